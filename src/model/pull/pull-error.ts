import { type ErrorDetails, RatchetError } from '../../errors/index.ts'

/** A model did not arrive, or not whole. What came of it so far is kept, unless it was wrong. */
export class PullError extends RatchetError {
  /** Whether another try may help, without anything being changed. */
  readonly passing: boolean
  /** How long the server asks to be left alone, in seconds. */
  readonly retryAfterSeconds: number | null

  constructor(details: ErrorDetails & { readonly passing?: boolean; readonly retryAfterSeconds?: number | null }) {
    super(details)
    this.passing = details.passing ?? false
    this.retryAfterSeconds = details.retryAfterSeconds ?? null
  }
}
