import type { Json } from '../../core/index.ts'
import { UpstreamError } from './upstream-error.ts'

/** One page of every way in which an upstream fails, in words. None holds a key, a header or a request. */

export function timedOut(upstream: string, what: 'begin' | 'go on', milliseconds: number): UpstreamError {
  const message =
    what === 'begin'
      ? `The upstream ${upstream} did not begin to answer within ${milliseconds} ms.`
      : `The upstream ${upstream} sent nothing for ${milliseconds} ms in the middle of its answer.`
  const key = what === 'begin' ? 'firstByteTimeoutMs' : 'idleTimeoutMs'
  const hint = `Look whether it is overloaded; if it needs that long, raise its ${key}.`
  return new UpstreamError({ code: 'model/upstream-timeout', kind: 'timeout', upstream, message, hint })
}

export function cancelled(upstream: string): UpstreamError {
  return new UpstreamError({
    code: 'model/upstream-cancelled',
    kind: 'cancelled',
    upstream,
    message: `The request to the upstream ${upstream} was cancelled.`,
    hint: 'Do nothing: the caller left, or Ratchet is stopping.',
  })
}

/** No connection, or one that broke before a byte of the answer. */
export function unreachable(upstream: string, cause: Error): UpstreamError {
  const code = (cause as { code?: unknown }).code
  return new UpstreamError({
    code: 'model/upstream-unreachable',
    kind: 'unreachable',
    upstream,
    message: `The upstream ${upstream} cannot be reached${typeof code === 'string' ? ` (${code})` : ''}.`,
    hint: 'Check that it runs, its url in the configuration, and the network between.',
    cause,
  })
}

export function cut(upstream: string, cause?: Error): UpstreamError {
  return new UpstreamError({
    code: 'model/upstream-cut',
    kind: 'broken',
    upstream,
    message: `The upstream ${upstream} was cut off in the middle of its answer.`,
    hint: 'Ask again; if it happens often, look into the log of the upstream or of the proxy before it.',
    cause,
  })
}

/** What `malformed` says of an answer that nobody asked for. */
export const unaskedChoice = (index: number): string => `choice ${index}, which nobody asked for`

/** @param what the part that is too large, for example `answer`. */
export function tooLarge(upstream: string, what: string, bytes: number): UpstreamError {
  return new UpstreamError({
    code: 'model/upstream-too-large',
    kind: 'broken',
    upstream,
    message: `The upstream ${upstream} sent an ${what} of more than ${bytes} bytes.`,
    hint: 'Ask for less at once; if answers of that size are meant, raise its maxAnswerBytes.',
  })
}

/** An answer that is not what the API says. @param problem ends the sentence "The upstream x sent …". */
export function malformed(upstream: string, problem: string): UpstreamError {
  return new UpstreamError({
    code: 'model/upstream-malformed',
    kind: 'broken',
    upstream,
    message: `The upstream ${upstream} sent ${problem}.`,
    hint: 'Check that its url is the base of an OpenAI-compatible API, usually ending in /v1.',
  })
}

/** What is known of a refusal: an HTTP answer, or an error object in the middle of a stream. */
export interface Refusal {
  readonly upstream: string
  readonly status: number | null
  readonly body: Json | null
  readonly retryAfterSeconds: number | null
  /** Whether the key was ours: then a client can do nothing about a 401. */
  readonly ownKey: boolean
}

/** The failure that an HTTP status, or an error object without one, means. */
export function refusal({ upstream, status, body, retryAfterSeconds, ownKey }: Refusal): UpstreamError {
  const said = errorMessage(body)
  const answered = status === null ? 'reported an error' : `answered ${status}`
  const message = `The upstream ${upstream} ${answered}${said === null ? '.' : `: ${said}`}`
  const more = {
    upstream,
    message,
    ...(status === null ? {} : { status }),
    ...(body === null ? {} : { body }),
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
  }
  if (status === 401 && ownKey) {
    const hint = 'Set the environment variable that its keyEnv names to a valid key.'
    return new UpstreamError({ code: 'model/upstream-own-key', kind: 'broken', hint, ...more })
  }
  if (status === 429 || status === 503 || status === 529) {
    const hint = 'Ask again later, or give this upstream a lower concurrency.'
    return new UpstreamError({ code: 'model/upstream-busy', kind: 'busy', hint, ...more })
  }
  if (status === 408) {
    const hint = 'Ask again; if it happens often, look at the network between.'
    return new UpstreamError({ code: 'model/upstream-timeout', kind: 'timeout', hint, ...more })
  }
  if (status !== null && status >= 400 && status < 500) {
    const hint = 'Correct the request as the upstream says.'
    return new UpstreamError({ code: 'model/upstream-refused', kind: 'refused', hint, ...more })
  }
  const hint =
    status !== null && status < 400
      ? 'Set its url to where the API itself answers: redirects are not followed.'
      : 'Ask again; if it happens often, look into the log of the upstream.'
  return new UpstreamError({ code: 'model/upstream-failed', kind: 'broken', hint, ...more })
}

/** Longer messages hold whole requests. */
const longest = 500

/** What the body of an error says in words: `error.message` as OpenAI has it, or the likes of it. */
export function errorMessage(body: Json | null): string | null {
  const record = recordOf(body)
  if (record === null) return null
  for (const value of [recordOf(record.error)?.message, record.error, record.message, record.detail]) {
    if (typeof value === 'string' && value !== '') return value.length > longest ? `${value.slice(0, longest)}…` : value
  }
  return null
}

export function recordOf(value: unknown): { readonly [key: string]: Json } | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Json })
    : null
}
