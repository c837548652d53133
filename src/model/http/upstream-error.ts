import type { Json, UpstreamFailure, UpstreamFailureKind } from '../../core/index.ts'
import { type ErrorDetails, RatchetError } from '../../errors/index.ts'

/** An upstream did not answer, or not to the end. */
export class UpstreamError extends RatchetError implements UpstreamFailure {
  readonly kind: UpstreamFailureKind
  readonly upstream: string
  readonly status: number | null
  readonly body: Json | null
  readonly retryAfterSeconds: number | null

  constructor(
    details: ErrorDetails & {
      readonly kind: UpstreamFailureKind
      readonly upstream: string
      readonly status?: number
      readonly body?: Json
      readonly retryAfterSeconds?: number
    },
  ) {
    super(details)
    this.kind = details.kind
    this.upstream = details.upstream
    this.status = details.status ?? null
    this.body = details.body ?? null
    this.retryAfterSeconds = details.retryAfterSeconds ?? null
  }
}

/** True for what any ChatUpstream throws on purpose. */
export function isUpstreamFailure(error: unknown): error is UpstreamFailure {
  return RatchetError.is(error) && 'kind' in error && 'upstream' in error && 'retryAfterSeconds' in error
}
