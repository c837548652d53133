// One clock for all processes of a run: milliseconds of CLOCK_MONOTONIC, which does not depend on when a process began.

const ahead = Number(process.hrtime.bigint()) / 1e6 - performance.now()

export const now = () => performance.now() + ahead
