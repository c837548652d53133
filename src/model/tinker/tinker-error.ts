import { type ErrorDetails, RatchetError } from '../../errors/index.ts'

/** A Tinker server did not do what was asked, or not in the way of the protocol. */
export class TinkerError extends RatchetError {
  /** The HTTP status that said so; `null` where none did. */
  readonly status: number | null
  /** The request that a server refused; `null` where it is not about one. */
  readonly request: string | null

  constructor(details: ErrorDetails & { readonly status?: number | null; readonly request?: string }) {
    super(details)
    this.status = details.status ?? null
    this.request = details.request ?? null
  }
}
