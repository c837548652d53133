import { EnvHttpProxyAgent, fetch, type Response } from 'undici'
import { retryAfterOf } from '../http/retry-after.ts'
import { absent, refused, unavailable, unreachable, unusableAnswer } from './failures.ts'
import { PullError } from './pull-error.ts'

/** What goes along with a question, and what it is about. */
export interface Question {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent to the origin that is asked first, and never to another that this one leads to. */
  readonly authorization?: string | null
  /** The environment variable that holds a token, for the hint. */
  readonly tokenVariable?: string
  readonly signal?: AbortSignal | undefined
}

/** Servers that are silent for longer are given up. */
const silenceMs = 60_000
const maxRedirects = 10

/** Proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`) are used. */
let agent: EnvHttpProxyAgent | null = null
const theAgent = () =>
  (agent ??= new EnvHttpProxyAgent({ headersTimeout: silenceMs, bodyTimeout: silenceMs, connectTimeout: 30_000 }))

/**
 * The answer to a GET, after redirects: a status from 200 to 299, or 416 for a range that is not there.
 * @throws PullError for every other.
 */
export async function ask(url: URL, question: Question = {}): Promise<Response> {
  let at = url
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await askOnce(at, url.origin, question)
    const { status } = response
    if (response.ok || status === 416) return response
    await response.body?.cancel().catch(() => {})
    const next = response.headers.get('location')
    if (status < 300 || status > 399 || next === null) throw failure(at, response, question)
    at = redirected(at, next)
  }
  throw unusableAnswer(url, `more than ${maxRedirects} redirects`)
}

async function askOnce(url: URL, trusted: string, { headers, authorization, signal }: Question): Promise<Response> {
  const secret = authorization && url.origin === trusted ? { authorization } : {}
  try {
    return await fetch(url, {
      // Bytes as they are: a range of a compressed answer would be none of the file.
      headers: { 'accept-encoding': 'identity', 'user-agent': 'ratchet', ...headers, ...secret },
      redirect: 'manual',
      dispatcher: theAgent(),
      signal: signal ?? null,
    })
  } catch (cause) {
    signal?.throwIfAborted()
    throw unreachable(url, cause)
  }
}

function redirected(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : null
  const safe = to !== null && (to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:'))
  if (!safe) throw unusableAnswer(from, 'it leads to no http or https address, or from https to http')
  return to
}

function failure(url: URL, { status, headers }: Response, { tokenVariable }: Question): PullError {
  if (status === 401 || status === 403) return refused(url, status, tokenVariable ?? null)
  if (status === 404 || status === 410) return absent(url, status)
  if (status === 429 || status >= 500)
    return unavailable(url, status, retryAfterOf(Object.fromEntries(headers.entries()), Date.now()))
  return unusableAnswer(url, `status ${status}`)
}

/** The text of an answer of at most `limit` bytes. @throws PullError when it is longer or cut off. */
export async function textOf(url: URL, response: Response, limit: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of response.body ?? []) {
      length += piece.length
      if (length > limit) throw unusableAnswer(url, `more than ${limit} bytes`)
      pieces.push(piece)
    }
  } catch (cause) {
    throw cause instanceof PullError ? cause : unreachable(url, cause)
  }
  return Buffer.concat(pieces).toString('utf8')
}
