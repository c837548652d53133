import { LRUCache } from 'lru-cache'
import type { Caller } from '../ports.ts'
import { allPlacesTaken, rateSpent } from './refusals.ts'

/** What a key may use where it does not say itself. */
export interface DefaultLimits {
  readonly requestsPerMinute: number
  readonly concurrency: number
}

/** What a key has used. */
interface Account {
  /** Requests that it may make at once; fills up again over a minute. */
  tokens: number
  /** When `tokens` was counted, in the limiter's milliseconds. */
  at: number
  /** Requests under way. */
  active: number
}

/** Keys whose use is remembered. Those that asked longest ago are forgotten first, as if they had not asked for a minute. */
const most = 50_000

/**
 * Holds each key to its requests a minute (a token bucket: a minute's worth may come at once) and to its requests at a
 * time. A session's calls also count for the key that made it. Time is monotonic: a clock set back locks nobody out.
 */
export class Limiter {
  readonly #defaults: DefaultLimits
  readonly #perf: { now(): number }
  readonly #accounts: LRUCache<string, Account>

  constructor(defaults: DefaultLimits, perf: { now(): number } = performance, max = most) {
    this.#defaults = defaults
    this.#perf = perf
    this.#accounts = new LRUCache({ max })
  }

  /**
   * Takes a place.
   * @returns what gives it up; calling it again does nothing.
   * @throws GatewayError 429.
   */
  admit({ key, limits, parent }: Pick<Caller, 'key' | 'limits' | 'parent'>): () => void {
    const now = this.#perf.now()
    const held = [{ key, limits }, ...(parent ? [parent] : [])].map(({ key, limits }) => {
      const perMinute = limits.requestsPerMinute ?? this.#defaults.requestsPerMinute
      return {
        account: this.#account(key, perMinute, now),
        perMinute,
        places: limits.concurrency ?? this.#defaults.concurrency,
      }
    })
    // Nothing is taken from anyone before everyone has room.
    for (const { account, perMinute, places } of held) {
      if (account.active >= places) throw allPlacesTaken(places)
      if (account.tokens < 1)
        throw rateSpent(perMinute, Math.max(1, Math.ceil(((1 - account.tokens) * 60) / perMinute)))
    }
    for (const { account } of held) {
      account.tokens -= 1
      account.active += 1
    }
    let given = false
    return () => {
      if (given) return
      given = true
      for (const { account } of held) account.active -= 1
    }
  }

  #account(key: string, perMinute: number, now: number): Account {
    const account = this.#accounts.get(key)
    if (!account) {
      const fresh = { tokens: perMinute, at: now, active: 0 }
      this.#accounts.set(key, fresh)
      return fresh
    }
    account.tokens = Math.min(perMinute, account.tokens + ((now - account.at) / 60_000) * perMinute)
    account.at = now
    return account
  }
}
