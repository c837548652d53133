import { ClientName } from '../../core/index.ts'
import { trajectoryOfSession } from '../episode/ids.ts'
import type { Caller, RequestContext } from '../ports.ts'
import { refusal } from './refusals.ts'

/**
 * What the client says about a request beside its body. A header that cannot be understood is an error: ignoring it
 * would record something else than the client meant.
 */
export interface Said {
  readonly headers: Headers
  /** From the path. */
  readonly session: string | null
  /** The body's `user` or `safety_identifier`. */
  readonly user: string | null
  readonly caller: Caller
  /** What the gateway is configured with. */
  readonly train: boolean
  readonly signal: AbortSignal
  /** Of the body. */
  readonly weight: number
}

/** @throws GatewayError 400 for a header that cannot be understood, or two that contradict each other. */
export function requestContext({ headers, session, user, caller, train, signal, weight }: Said): RequestContext {
  const agent = nameIn(headers, 'ratchet-agent')
  const subject = nameIn(headers, 'ratchet-subject') ?? subjectOf(user)
  // Who holds a session's key is not who made it: they cannot put what they say down to somebody else.
  const fixed = caller.session !== null
  return {
    caller,
    session: sessionOf(headers, session, caller),
    agent: fixed ? (caller.agent ?? agent) : (agent ?? caller.agent),
    subject: fixed ? (caller.subject ?? subject) : (subject ?? caller.subject),
    train: train && caller.train && trainIn(headers),
    idempotencyKey: idempotencyKeyIn(headers),
    retry: retryIn(headers),
    signal,
    weight,
  }
}

/** The path, the header and the key may each name the session; they must not disagree. */
function sessionOf(headers: Headers, fromPath: string | null, caller: Caller): string | null {
  const inPath = fromPath === null ? null : named('The session in the path', fromPath)
  const inHeader = nameIn(headers, 'ratchet-session')
  const [name = null, ...others] = [caller.session, inPath, inHeader].filter((name) => name !== null)
  // What stands for a name in a key means the same session as the name.
  const of = (session: string) => trajectoryOfSession(caller.tenant, session)
  const other = name === null ? undefined : others.find((other) => other !== name && of(other) !== of(name))
  if (other === undefined) return name
  throw refusal(
    'session-conflict',
    `The request belongs to the session "${name}" and to the session "${other}".`,
    'Name the session once: by the key, in the path, or in the ratchet-session header.',
    { param: 'ratchet-session' },
  )
}

function nameIn(headers: Headers, header: string): string | null {
  const value = headers.get(header)
  return value === null ? null : named(`The header ${header}`, utf8(header, value), header)
}

function subjectOf(user: string | null): string | null {
  return user === null || user === '' ? null : named("The body's user", user, 'user')
}

function named(what: string, value: string, param?: string): string {
  const parsed = ClientName.safeParse(value)
  if (parsed.success) return parsed.data
  throw refusal(
    'bad-name',
    `${what} cannot be used as a name: it must have 1 to 256 printable characters.`,
    'Choose another name.',
    param === undefined ? {} : { param },
  )
}

/** Header bytes arrive as Latin-1 whatever they were; what is not ASCII has to be UTF-8. */
function utf8(header: string, value: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(value)) return value
  const text = Buffer.from(value, 'latin1').toString('utf8')
  if (!text.includes('\ufffd')) return text
  throw badHeader(header, 'is not UTF-8', 'Encode it as UTF-8, or use ASCII only.')
}

const badHeader = (header: string, what: string, hint: string) =>
  refusal('bad-header', `The header ${header} ${what}.`, hint, { param: header })

function trainIn(headers: Headers): boolean {
  const value = headers.get('ratchet-train')?.toLowerCase()
  if (value === undefined || value === 'true') return true
  if (value === 'false') return false
  throw badHeader('ratchet-train', 'is neither "true" nor "false"', 'Send "false" to forbid learning from this call.')
}

function idempotencyKeyIn(headers: Headers): string | null {
  const value = headers.get('idempotency-key')
  if (value === null || /^[\x21-\x7e]{1,256}$/.test(value)) return value
  throw badHeader('idempotency-key', 'is not 1 to 256 visible ASCII characters', 'Send a UUID, for example.')
}

function retryIn(headers: Headers): number {
  const value = headers.get('x-stainless-retry-count')
  if (value === null) return 0
  if (/^\d{1,4}$/.test(value)) return Number(value)
  throw badHeader('x-stainless-retry-count', 'is not a whole number', 'Leave it to the SDK, which counts its retries.')
}

/** Who a request is about, as the OpenAI API lets its body say; `null` where it does not. */
export function userIn(body: { readonly [field: string]: unknown }): string | null {
  const user = body['safety_identifier'] ?? body['user']
  return typeof user === 'string' ? user : null
}
