import type { ClaimRepository, Clock } from '../../core/index.ts'
import type { Identity } from './repeats.ts'

/** What claiming requests needs. */
export interface ClaimsOptions {
  readonly claims: ClaimRepository
  /** The name of this process. */
  readonly gateway: string
  readonly clock: Clock
  /** Told of a claim that could not be made for later, renewed or given up: calls go on. */
  readonly onProblem: (error: unknown) => void
}

/** A request that this process answers, as long as it does not release it. */
export interface Hold {
  release(): void
}

/** Either the request is this process's to answer, or another one is at it. */
export type Taken =
  | { readonly hold: Hold }
  /** What the other one was asked, and when its claim ends should it be dead. */
  | { readonly hold: null; readonly body: string; readonly retryAfterSeconds: number }

/** How long a claim outlives its gateway. */
const ttlMs = 9_000
const beatMs = ttlMs / 3
/**
 * A first try is claimed when it has taken so long: SDKs retry no sooner than 375 ms after one, and what is answered sooner
 * costs no write.
 */
const firstTryMs = 250

/** Nothing to give up. */
export const noHold: Hold = { release: () => {} }

/**
 * Claims in the store on requests that are being answered, so that of several gateways one asks the upstream. Those of a
 * gateway that died end by themselves. Equal requests of one gateway share a claim: within a process, `Repeats` tells them
 * apart.
 */
export class Claims {
  readonly #options: ClaimsOptions
  readonly #held = new Map<string, number>()
  readonly #writing = new Set<Promise<unknown>>()
  #beat: NodeJS.Timeout | null = null

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  /** Takes a request that may have been sent before, to whichever gateway. */
  async take(identity: Identity): Promise<Taken> {
    const { claims, gateway } = this.#options
    const other = await claims.take(requestOf(identity), gateway, this.#time())
    if (other === null) return { hold: this.#hold(identity) }
    const left = Math.ceil((other.expiresAt - this.#options.clock.now()) / 1_000)
    return { hold: null, body: other.body, retryAfterSeconds: Math.min(Math.max(left, 1), ttlMs / 1_000) }
  }

  /** Takes a first try, which nobody has sent before, once it takes long enough to be repeated meanwhile. */
  takeLater(identity: Identity): Hold {
    let taking: Promise<Hold> | null = null
    const timer = setTimeout(() => {
      // Another gateway's equal request stands for this one, too.
      taking = this.take(identity).then(({ hold }) => hold ?? noHold)
      this.#track(taking)
    }, firstTryMs).unref()
    return once(() => {
      clearTimeout(timer)
      // What failed was told of.
      taking?.then((hold) => hold.release()).catch(() => {})
    })
  }

  /** Waits for what is being written. */
  async close(): Promise<void> {
    while (this.#writing.size > 0) await Promise.allSettled(this.#writing)
    if (this.#beat) clearInterval(this.#beat)
  }

  #hold(identity: Identity): Hold {
    const slot = JSON.stringify([identity.tenant, identity.apiKey, identity.key])
    this.#held.set(slot, (this.#held.get(slot) ?? 0) + 1)
    this.#beat ??= setInterval(() => this.#renew(), beatMs).unref()
    return once(() => {
      const left = (this.#held.get(slot) ?? 0) - 1
      if (left > 0) {
        this.#held.set(slot, left)
        return
      }
      this.#held.delete(slot)
      this.#track(this.#options.claims.release(requestOf(identity), this.#options.gateway))
    })
  }

  #renew(): void {
    if (this.#held.size > 0) this.#track(this.#options.claims.renew(this.#options.gateway, this.#time()))
  }

  #track(work: Promise<unknown>): void {
    const told = work.catch(this.#options.onProblem).finally(() => this.#writing.delete(told))
    this.#writing.add(told)
  }

  #time() {
    return { now: this.#options.clock.now(), ttlMs }
  }
}

function requestOf({ tenant, apiKey, key, body }: Identity) {
  return { tenant, apiKey, identity: { key, body } }
}

function once(release: () => void): Hold {
  let done = false
  return {
    release: () => {
      if (done) return
      done = true
      release()
    },
  }
}
