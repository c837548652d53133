import type { Scope } from '../../core/index.ts'
import { GatewayError } from '../errors.ts'

/** Every way in which a caller is turned away. None says whether a key of this id exists, or whose it is. */

const authentication = { status: 401, type: 'authentication_error' } as const

/** No key came, and one is needed. */
export function keyMissing(): GatewayError {
  return new GatewayError({
    ...authentication,
    code: 'gateway/no-key',
    message: 'This gateway asks for a key, and the request brings none.',
    hint: 'Send `Authorization: Bearer rk_…`, or `ratchet-key: rk_…` when Authorization is for the upstream. The operator makes keys with `ratchet keys create`.',
  })
}

/** What came is no key, or none that counts. */
export function keyRefused(): GatewayError {
  return new GatewayError({
    ...authentication,
    code: 'gateway/wrong-key',
    message: 'The key is not known here: it is mistyped, revoked, or from elsewhere.',
    hint: 'Keys look like rk_<id>_<secret>. Check it, or make another with `ratchet keys create`.',
  })
}

/** The key was right once. Only who holds its secret is told. */
export function keyExpired(): GatewayError {
  return new GatewayError({
    ...authentication,
    code: 'gateway/expired-key',
    message: 'The key has expired.',
    hint: 'Make another, for a session with POST /ratchet/sessions.',
  })
}

/** The key may not do this. */
export function scopeMissing(needs: Scope, open: boolean): GatewayError {
  return new GatewayError({
    status: 403,
    type: 'permission_error',
    code: 'gateway/missing-scope',
    message: `This needs the scope "${needs}", which ${open ? 'nobody has without a key' : 'the key does not have'}.`,
    hint: `Make a key that may: ratchet keys create NAME --scopes ${needs}`,
  })
}

/** Without keys, only programs of this machine that know whom they talk to are answered. */
export function notThisMachine(header: 'host' | 'origin'): GatewayError {
  return new GatewayError({
    status: 403,
    type: 'permission_error',
    code: 'gateway/not-this-machine',
    message: `Without keys, only this machine is served, and the request's ${header} header names another.`,
    hint: 'Call it as localhost or 127.0.0.1. To be reached by another name, through a proxy or from a web page, make a key: ratchet keys create NAME',
    param: header,
  })
}

/** A session's key asks for what only its maker may do. */
export function notForSessions(what: string): GatewayError {
  return new GatewayError({
    status: 403,
    type: 'permission_error',
    code: 'gateway/session-key',
    message: `The key of a session may not ${what}.`,
    hint: 'Use the key that made the session.',
  })
}

/** What tells of all tenants together is asked for by one of them. */
export function notForTenants(): GatewayError {
  return new GatewayError({
    status: 403,
    type: 'permission_error',
    code: 'gateway/other-tenant',
    message: 'Metrics cover all tenants, and this key belongs to one of them.',
    hint: 'Use a key of the tenant that the gateway is configured with (`tenant`).',
  })
}

/** Keys cannot be looked up. */
export function keysUnreadable(cause: unknown): GatewayError {
  return new GatewayError({
    status: 503,
    type: 'server_error',
    code: 'gateway/keys-unreadable',
    message: 'The gateway cannot read its keys at the moment.',
    hint: "Try again. If it persists, read the gateway's log: its store has a problem.",
    retryAfterSeconds: 1,
    cause,
  })
}

/** More keys that nobody has seen are being looked up than the store should bear. */
export function tooManyLookups(): GatewayError {
  return new GatewayError({
    status: 429,
    type: 'rate_limit_error',
    code: 'gateway/busy',
    message: 'Too many new keys are being looked up at once.',
    hint: 'Try again in a second.',
    retryAfterSeconds: 1,
  })
}

/** The key has used its minute. */
export function rateSpent(requestsPerMinute: number, retryAfterSeconds: number): GatewayError {
  return new GatewayError({
    status: 429,
    type: 'rate_limit_error',
    code: 'gateway/rate-limit',
    message: `The key has made its ${requestsPerMinute} requests a minute.`,
    hint: `Try again in ${retryAfterSeconds} s; the operator sets limits.requestsPerMinute.`,
    retryAfterSeconds,
  })
}

/** The key has as many calls under way as it may. */
export function allPlacesTaken(concurrency: number): GatewayError {
  return new GatewayError({
    status: 429,
    type: 'rate_limit_error',
    code: 'gateway/concurrency-limit',
    message: `The key has ${concurrency} requests under way, as many as it may.`,
    hint: 'Wait for a call to end. The operator sets limits.concurrency.',
    retryAfterSeconds: 1,
  })
}
