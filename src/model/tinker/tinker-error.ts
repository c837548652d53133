import { type ErrorDetails, RatchetError } from '../../errors/index.ts'

/** A Tinker server did not do what was asked, or not in the way of the protocol. */
export class TinkerError extends RatchetError {
  /** The HTTP status that said so; `null` where none did. */
  readonly status: number | null

  constructor(details: ErrorDetails & { readonly status?: number | null }) {
    super(details)
    this.status = details.status ?? null
  }
}
