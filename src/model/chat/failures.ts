import { RatchetError } from '../../errors/index.ts'
import { InvalidSampleRequestError } from '../embedded/sampling/invalid-sample-request-error.ts'
import { EngineClosedError } from '../embedded/worker/engine-closed-error.ts'
import { UpstreamError } from '../http/upstream-error.ts'

/** What a client is told that it must change. */
export interface Refusal {
  /** Default 400. */
  readonly status?: 400 | 404
  /** The OpenAI API's `error.code`. */
  readonly code: string
  /** The part of the request that is wrong. */
  readonly param: string | null
  /** What is wrong, and what to do: two sentences. */
  readonly message: string
  readonly hint: string
}

/** A request that this model cannot answer, in the OpenAI API's words. SDKs show the message alone: the hint is in it. */
export function refused(upstream: string, { status = 400, code, param, message, hint }: Refusal): UpstreamError {
  return new UpstreamError({
    code: 'model/upstream-refused',
    kind: 'refused',
    upstream,
    status,
    message,
    hint,
    body: { error: { message: `${message} ${hint}`, type: 'invalid_request_error', param, code } },
  })
}

/** Whoever asked is gone, or the upstream is closing. */
export function cancelled(upstream: string): UpstreamError {
  return new UpstreamError({
    code: 'model/upstream-cancelled',
    kind: 'cancelled',
    upstream,
    message: `The request to the upstream ${upstream} was cancelled.`,
    hint: 'Do nothing: the caller left, or Ratchet is stopping.',
  })
}

/** The model cannot be reached any more: it was closed. */
export function closed(upstream: string, cause?: unknown): UpstreamError {
  return new UpstreamError({
    code: 'model/upstream-closed',
    kind: 'unreachable',
    upstream,
    message: `The upstream ${upstream} is closed.`,
    hint: 'Ask before Ratchet stops, or start it again.',
    cause,
  })
}

/**
 * What the model's failure means for a request.
 * @param form the part of the request that holds its answer to a form.
 */
export function failed(
  upstream: string,
  cause: unknown,
  form: 'response_format' | 'tool_choice' | null = null,
): UpstreamError {
  if (cause instanceof UpstreamError) return cause
  if (cause instanceof EngineClosedError) return closed(upstream, cause)
  // Errors of a worker's thread come as plain ones.
  if (RatchetError.is(cause) && cause.code === 'model/unusable-grammar') {
    const code = form === 'tool_choice' ? 'unsupported_tool_choice' : 'unsupported_response_format'
    return refused(upstream, { code, param: form, message: cause.message, hint: cause.hint })
  }
  if (cause instanceof InvalidSampleRequestError)
    return refused(upstream, { code: 'invalid_parameter', param: null, message: cause.message, hint: cause.hint })
  return new UpstreamError({
    code: 'model/upstream-failed',
    kind: 'broken',
    upstream,
    message: `The model behind the upstream ${upstream} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Ask again; if it happens again, the log has the cause.',
    cause,
  })
}
