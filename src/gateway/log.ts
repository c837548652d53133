import type { Logger } from 'pino'

/** Where the gateway says what its operator should know: pino, or anything that takes the same calls. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error'>

/** Says nothing. */
export const silent: Log = { info: () => {}, warn: () => {}, error: () => {} }
