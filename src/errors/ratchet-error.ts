const brand = Symbol.for('ratchet.error')

/** What every Ratchet error carries: a stable code, what happened, what to do next, and the underlying cause. */
export interface ErrorDetails {
  /** Stable, machine-readable, `room/kind` in kebab case, for example `model/unsupported-architecture`. */
  readonly code: string
  /** What happened, one sentence, with the offending value. */
  readonly message: string
  /** What to do next, one sentence. */
  readonly hint: string
  readonly cause?: unknown
}

/**
 * Base class of every error that Ratchet throws on purpose. Each room derives its own kinds.
 * Test with {@link RatchetError.is}, not `instanceof`: the brand is the same in every copy of this package. What crosses
 * a worker boundary loses it: send {@link ErrorDetails}, and make the error anew on the other side.
 */
export class RatchetError extends Error {
  readonly code: string
  readonly hint: string
  readonly [brand] = true

  constructor({ code, message, hint, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.code = code
    this.hint = hint
  }

  /** True for a RatchetError made by any copy of this package. */
  static is(value: unknown): value is RatchetError {
    return typeof value === 'object' && value !== null && brand in value
  }
}
