import { failed } from '../chat/failures.ts'
import { isUpstreamFailure, UpstreamError } from '../http/upstream-error.ts'
import { TinkerError } from './tinker-error.ts'

/** What an upstream at a Tinker server says of the server's failures, in the words of upstreams. */

/** The server's own error, behind whatever was made of it. */
function tinkerCause(error: unknown): TinkerError | null {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof TinkerError) return one
  return null
}

/** What a server can do only in a session that it knows. Weights that it has lost are met by other requests before. */
const ofSession: ReadonlySet<string | null> = new Set(['asample', 'create_sampling_session', 'create_model'])

/** Whether the server does not know the session any more. */
export function isLost(error: unknown): boolean {
  const { status = null, request = null } = tinkerCause(error) ?? {}
  return (status === 404 || status === 410) && ofSession.has(request)
}

/** What a server answers while it is down, starts or has too much to do. */
const passing: ReadonlySet<string> = new Set([
  'model/tinker-unreachable',
  'model/tinker-unavailable',
  'model/tinker-timeout',
])

/** Whether opening a session failed for a reason that may be gone the next time, without a change of the configuration. */
export const isPassing = (error: unknown): boolean =>
  isUpstreamFailure(error) ? error.kind === 'timeout' : error instanceof TinkerError && passing.has(error.code)

/**
 * An error of the server in the words of upstreams, which say whether asking again, or another upstream, may help; others
 * stay as they are.
 * @param answerTimeoutMs what an answer of the upstream may take.
 */
export function inWordsOfUpstreams(upstream: string, answerTimeoutMs: number, error: unknown): unknown {
  const cause = tinkerCause(error)
  if (cause === null || (isUpstreamFailure(error) && error.code !== 'model/upstream-failed')) return error
  const { message, hint, code, status } = cause
  const about = { upstream, message, hint, cause, ...(status !== null && { status }) }
  if (code === 'model/tinker-unreachable')
    return new UpstreamError({ ...about, code: 'model/upstream-unreachable', kind: 'unreachable' })
  if (code === 'model/tinker-timeout') return late(upstream, answerTimeoutMs, error)
  return new UpstreamError({ ...about, code: 'model/upstream-failed', kind: 'broken' })
}

/** {@link inWordsOfUpstreams}, for whatever opening a session throws. */
export function notOpened(upstream: string, answerTimeoutMs: number, error: unknown): UpstreamError {
  return failed(upstream, inWordsOfUpstreams(upstream, answerTimeoutMs, error))
}

/** No answer in time. */
export const late = (upstream: string, milliseconds: number, cause: unknown): UpstreamError =>
  new UpstreamError({
    code: 'model/upstream-timeout',
    kind: 'timeout',
    upstream,
    message: `The upstream ${upstream} did not answer within ${milliseconds} ms.`,
    hint: 'Look whether its server works on other requests; firstByteTimeoutMs of the upstream is how long it may take.',
    cause,
  })

/** No session in time. @param cause says what the server did meanwhile. */
export const openedTooLate = (upstream: string, milliseconds: number, cause: unknown): UpstreamError =>
  new UpstreamError({
    code: 'model/upstream-timeout',
    kind: 'timeout',
    upstream,
    message: `The server of the upstream ${upstream} opened no session within ${milliseconds} ms. ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Look whether the server works and has room. The gateway tries again with a later request.',
    cause,
  })
