import { LRUCache } from 'lru-cache'
import type { Arrived, Caller } from '../ports.ts'
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
  /** Requests whose bodies are coming. */
  arriving: number
  /** Requests under way. */
  active: number
}

/** An account, and what it may use. */
interface Held {
  readonly account: Account
  readonly perMinute: number
  readonly places: number
}

const once = (act: () => void): (() => void) => {
  let done = false
  return () => {
    if (done) return
    done = true
    act()
  }
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
   * Counts a request whose body is still to come. Until it has come it takes up room of its own key alone: bodies that never
   * end keep nobody else out, not the key that made a session's either.
   * @param takes `no place`: it counts for the minute only, because it waits for what was asked before.
   * @throws GatewayError 429 when there is no place, now, or the key has made its requests.
   */
  arrive(caller: Pick<Caller, 'key' | 'limits' | 'parent'>, takes: 'place' | 'no place' = 'place'): Arrived {
    const held = this.#held(caller)
    const [own] = held
    // Nothing is taken from anyone before everyone has room.
    for (const { account, perMinute, places } of held) {
      if (takes === 'place' && account.active >= places) throw allPlacesTaken(places)
      if (account.tokens < 1)
        throw rateSpent(perMinute, Math.max(1, Math.ceil(((1 - account.tokens) * 60) / perMinute)))
    }
    if (takes === 'place' && own.account.arriving >= own.places) throw allPlacesTaken(own.places)
    for (const { account } of held) account.tokens -= 1
    if (takes === 'no place') return { enter: () => () => {}, leave() {} }
    own.account.arriving += 1
    const leave = once(() => (own.account.arriving -= 1))
    return {
      leave,
      enter: () => {
        for (const { account, places } of held) if (account.active >= places) throw allPlacesTaken(places)
        leave()
        for (const { account } of held) account.active += 1
        return once(() => {
          for (const { account } of held) account.active -= 1
        })
      },
    }
  }

  /**
   * Takes a place for a request that has come whole.
   * @returns what gives it up; calling it again does nothing.
   * @throws GatewayError 429.
   */
  admit(caller: Pick<Caller, 'key' | 'limits' | 'parent'>): () => void {
    return this.arrive(caller).enter()
  }

  #held({ key, limits, parent }: Pick<Caller, 'key' | 'limits' | 'parent'>): readonly [Held, ...Held[]] {
    const now = this.#perf.now()
    const held = (of: { readonly key: string; readonly limits: Caller['limits'] }): Held => {
      const perMinute = of.limits.requestsPerMinute ?? this.#defaults.requestsPerMinute
      const places = of.limits.concurrency ?? this.#defaults.concurrency
      return { account: this.#account(of.key, perMinute, now), perMinute, places }
    }
    return [held({ key, limits }), ...(parent ? [held(parent)] : [])]
  }

  #account(key: string, perMinute: number, now: number): Account {
    const account = this.#accounts.get(key)
    if (!account) {
      const fresh = { tokens: perMinute, at: now, arriving: 0, active: 0 }
      this.#accounts.set(key, fresh)
      return fresh
    }
    account.tokens = Math.min(perMinute, account.tokens + ((now - account.at) / 60_000) * perMinute)
    account.at = now
    return account
  }
}
