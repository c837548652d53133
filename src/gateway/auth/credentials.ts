import { mentionsToken } from './token.ts'

/** What a request's headers bring to say who is asking. */
export interface Credentials {
  /** What was sent as a key of ours, whether or not it is one; `null` when nothing was. */
  readonly token: string | null
  /** The client's own `Authorization`, meant for the upstream. Nothing that looks like a key of ours is ever in it. */
  readonly authorization: string | null
}

/** Where clients that cannot set `Authorization` put their key. */
const keyHeaders = ['x-api-key', 'api-key']

/**
 * Reads who is asking. `ratchet-key` comes first: then `Authorization` is the client's own, for the upstream. Otherwise
 * the key is the bearer of `Authorization`, or in `x-api-key` or `api-key`, as some clients send it.
 */
export function readCredentials(headers: Headers): Credentials {
  const authorization = headers.get('authorization')
  const passedOn = authorization === null || mentionsToken(authorization) ? null : authorization

  const own = headers.get('ratchet-key')?.trim()
  if (own) return { token: bearerOf(own) ?? own, authorization: passedOn }

  if (authorization !== null && passedOn === null) {
    return { token: bearerOf(authorization) ?? authorization.trim(), authorization: null }
  }
  for (const name of keyHeaders) {
    const value = headers.get(name)
    if (value !== null && mentionsToken(value)) return { token: value.trim(), authorization: passedOn }
  }
  return { token: null, authorization: passedOn }
}

/** The token of `Bearer <token>`; `null` for another scheme. */
function bearerOf(value: string): string | null {
  return /^bearer\s+(\S+)\s*$/i.exec(value)?.[1] ?? null
}
