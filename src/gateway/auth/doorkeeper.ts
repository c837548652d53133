import { type ApiKey, type Clock, KeyId, type KeyLimits, type KeyRepository, Scope } from '../../core/index.ts'
import type { ServeConfig } from '../config.ts'
import type { Caller, Doorkeeper } from '../ports.ts'
import { readCredentials } from './credentials.ts'
import { KeyCache } from './key-cache.ts'
import { Limiter } from './limiter.ts'
import { anyKey, assertFromThisMachine, isLoopback } from './loopback.ts'
import { keyExpired, keyMissing, keyRefused, keysUnreadable, scopeMissing } from './refusals.ts'
import { isSecretOf, parseToken } from './token.ts'

/** What the doorkeeper needs to know. */
export interface DoorkeeperOptions {
  readonly keys: Pick<KeyRepository, 'get' | 'list'>
  readonly config: Pick<ServeConfig, 'auth' | 'host' | 'tenant' | 'train' | 'limits'>
  readonly clock: Clock
  /** Monotonic milliseconds, for caches and limits. */
  readonly perf?: { now(): number }
}

/** A doorkeeper that can be told of changes made by this process, which then need not wait for the cache. */
export interface KeyDoorkeeper extends Doorkeeper {
  /** Reads the key anew at the next request. */
  forget(id: KeyId): void
  /** Reads every key anew: an erasure removes keys of sessions. */
  forgetAll(): void
}

/** Who is asking where no key is asked for. */
export const openKey = KeyId.parse('open')
/** What may be done without a key. Keys, and what cannot be undone, are for who holds one. */
const openScopes: ReadonlySet<Scope> = new Set<Scope>(['infer', 'signal', 'read', 'audit'])
/** How long it is believed that there is no key yet. */
const openMs = 2_000

/**
 * Says who is asking by their key. Under `auth: auto`, as long as the store has no key and only this machine can reach
 * the gateway, it asks for none: whoever calls is `open`, of the configured tenant. A token that is sent all the same
 * has to be right. Once there is a key, the door stays closed, and the keys of sessions that were handed out without one
 * end: keys are revoked, and only those of sessions are removed.
 */
export function doorkeeper({ keys, config, clock, perf = performance }: DoorkeeperOptions): KeyDoorkeeper {
  const cache = new KeyCache(keys, perf)
  const limiter = new Limiter(config.limits, perf)
  const mayBeOpen = config.auth === 'auto' && isLoopback(config.host)
  let closed = !mayBeOpen
  let openUntil = Number.NEGATIVE_INFINITY

  async function isOpen(): Promise<boolean> {
    if (closed) return false
    if (perf.now() < openUntil) return true
    try {
      closed = await anyKey(keys)
    } catch (error) {
      throw keysUnreadable(error)
    }
    openUntil = perf.now() + openMs
    return !closed
  }

  /** The record behind a token, if it counts now. */
  async function keyOf(token: string): Promise<ApiKey> {
    const parsed = parseToken(token)
    if (!parsed) throw keyRefused()
    const key = await cache.get(parsed.id)
    if (!isSecretOf(key, parsed.secret) || key.revokedAt !== null) throw keyRefused()
    if (key.session === null) closed = true
    if (hasExpired(key)) throw keyExpired()
    // A session's key that nobody's key made was handed out at an open door: it does not outlast that.
    if (key.session !== null && key.parent === undefined && !(await isOpen())) throw keyExpired()
    return key
  }

  const hasExpired = ({ expiresAt }: ApiKey) => expiresAt !== null && expiresAt <= clock.now()

  /** The key that made a session's, which has to count as well. */
  async function parentOf({ parent }: ApiKey): Promise<ApiKey | null> {
    if (parent === undefined) return null
    const key = await cache.get(parent)
    if (key === null || key.revokedAt !== null) throw keyRefused()
    if (hasExpired(key)) throw keyExpired()
    return key
  }

  return {
    async identify(headers, needs): Promise<Caller> {
      const { token, authorization } = readCredentials(headers)
      if (token === null) {
        if (!(await isOpen())) throw keyMissing()
        assertFromThisMachine(headers)
        if (!openScopes.has(needs)) throw scopeMissing(needs, true)
        return openCaller(config, authorization)
      }
      const key = await keyOf(token)
      const parent = await parentOf(key)
      const scopes = new Set(key.scopes.includes('admin') ? Scope.options : key.scopes)
      if (!scopes.has(needs)) throw scopeMissing(needs, false)
      return {
        tenant: key.tenant,
        key: key.id,
        scopes,
        session: key.session,
        agent: key.agent,
        subject: key.subject,
        train: key.train && (parent?.train ?? true) && config.train,
        limits: key.session === null ? key.limits : limitsOfSession(key.limits, config.limits.session),
        ...(parent && { parent: { key: parent.id, limits: parent.limits } }),
        authorization,
      }
    },
    arrive: (caller, takes) => limiter.arrive(caller, takes),
    forget: (id) => cache.forget(id),
    forgetAll: () => cache.clear(),
  }
}

/** A session's key is handed to code that its maker does not control: what it does not say itself is little. */
function limitsOfSession(own: KeyLimits, usual: ServeConfig['limits']['session']): KeyLimits {
  return {
    requestsPerMinute: own.requestsPerMinute ?? usual.requestsPerMinute,
    concurrency: own.concurrency ?? usual.concurrency,
    bodyBytes: own.bodyBytes,
  }
}

function openCaller({ tenant, train }: DoorkeeperOptions['config'], authorization: string | null): Caller {
  return {
    tenant,
    key: openKey,
    scopes: openScopes,
    session: null,
    agent: null,
    subject: null,
    train,
    limits: { requestsPerMinute: null, concurrency: null, bodyBytes: null },
    authorization,
  }
}
