/** Where time comes from, so that tests and deterministic runs can hold it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() }
