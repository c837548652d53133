import { StoreError } from './store-error.ts'

/** The process that holds a store's writer lock. */
export interface Writer {
  readonly pid: number
  readonly host: string
  /** Milliseconds since the epoch. */
  readonly since: number
  /** Where it answers, of a gateway. */
  readonly url?: string | undefined
}

/** Another process (or another `openStore` of this one) is the store's writer: a store has one at a time. */
export class LockedStoreError extends StoreError {
  /** `null` when the holder left no readable note of itself. */
  readonly writer: Writer | null

  constructor(path: string, writer: Writer | null) {
    const holder = writer
      ? `process ${writer.pid} on ${writer.host}, since ${new Date(writer.since).toISOString()}`
      : 'another process'
    super({
      code: 'store/locked',
      message: `The store ${path} is being written by ${holder}.`,
      hint: 'Wait for it to end, stop it, or use another store; any number of readers may look on. A gateway that runs makes keys and erases by itself: POST /ratchet/keys, DELETE /ratchet/subjects/NAME, with a key of the scope admin.',
    })
    this.writer = writer
  }
}
