import type { ChatRequest, Clock, Store } from '../../core/index.ts'
import type { RequestContext } from '../ports.ts'
import { type Claims, type Hold, noHold } from './claims.ts'
import type { ReadingBack } from './reading-back.ts'
import { type Ended, type Identity, identityOf, otherBody, Repeats } from './repeats.ts'
import { type Given, givenIn } from './replay.ts'

/** Asks the store; what it says when it cannot answer is the recorder's to decide. */
export type AskStore = <T>(question: () => Promise<T>, otherwise: T) => Promise<T>

/** What admitting takes. */
export interface AdmissionOptions {
  readonly traffic: Pick<Store['traffic'], 'request'>
  readonly readingBack: ReadingBack
  /** `null` where no other gateway could get the same request. */
  readonly claims: Claims | null
  /** How long a repeated request is known again, in milliseconds. */
  readonly knownMs: number
  /** When half answers of dead processes have been looked for. */
  readonly ready: Promise<unknown>
  readonly ask: AskStore
  readonly clock: Clock
}

/** A request that is to be answered. One of the two is called, once. */
export interface Admitted {
  readonly identity: Identity
  /** The try that it repeats, which got no answer. */
  readonly repeated: Pick<Ended, 'trajectory' | 'call'> | null
  /** The call is over. */
  readonly end: (ended: Omit<Ended, 'body'>) => void
  /** It did not become a call. */
  readonly undo: () => void
}

/** What becomes of a request: it is answered, it gets the answer that it got, or somebody is at it. */
export type Admission =
  | { readonly kind: 'admitted'; readonly admitted: Admitted }
  | { readonly kind: 'given'; readonly given: Given }
  | { readonly kind: 'in-flight'; readonly retryAfterSeconds: number }

/** Tells a new request from one that is sent again, to this gateway or to another one. */
export class Admissions {
  readonly #options: AdmissionOptions
  readonly #repeats: Repeats

  constructor(options: AdmissionOptions) {
    this.#options = options
    this.#repeats = new Repeats(options.knownMs)
  }

  /** @throws GatewayError 409 when an idempotency key comes with another body. */
  async admit(request: ChatRequest, context: RequestContext, now: number): Promise<Admission> {
    const identity = identityOf(request, context)
    const remembered = this.#repeats.begin(identity, now)
    if (remembered.kind === 'in-flight') return { kind: 'in-flight', retryAfterSeconds: 1 }
    if (remembered.kind === 'given') return remembered
    const { claim, failed } = remembered
    let hold = noHold
    const undo = () => {
      hold.release()
      if (failed) this.#repeats.end(claim, failed)
      else this.#repeats.release(claim)
    }
    const end = (ended: Omit<Ended, 'body'>) => {
      hold.release()
      this.#repeats.end(claim, ended)
    }
    try {
      await this.#options.ready
      const taken = await this.#take(identity)
      hold = taken.hold ?? noHold
      // Only now: whoever held the request before has committed its answer by the time that it is let go.
      const given = remembered.kind === 'unknown' ? await this.#givenBefore(identity) : null
      if (given === null && taken.hold !== null) {
        return { kind: 'admitted', admitted: { identity, repeated: failed, end, undo } }
      }
      undo()
      if (given) return { kind: 'given', given }
      return { kind: 'in-flight', retryAfterSeconds: taken.hold === null ? taken.retryAfterSeconds : 1 }
    } catch (error) {
      undo()
      throw error
    }
  }

  /** Forgets answers that could be repeated. */
  clear(): void {
    this.#repeats.clear()
  }

  /**
   * Takes a request among all gateways of the store.
   * @throws GatewayError 409 when an idempotency key comes with another body than the one that is being answered.
   */
  async #take(identity: Identity): Promise<{ readonly hold: Hold } | { hold: null; retryAfterSeconds: number }> {
    const { claims } = this.#options
    if (claims === null) return { hold: noHold }
    if (!identity.mayRepeat) return { hold: claims.takeLater(identity) }
    const taken = await this.#options.ask(() => claims.take(identity), { hold: noHold })
    if (taken.hold === null && taken.body !== identity.body) throw otherBody()
    return taken
  }

  /**
   * What the store knows of a request that this process does not.
   * @throws GatewayError 409 when an idempotency key comes with another body.
   */
  async #givenBefore(identity: Identity): Promise<Given | null> {
    const { traffic, readingBack, clock, knownMs, ask } = this.#options
    const { tenant, apiKey, key, body } = identity
    const known = await ask(() => traffic.request(apiKey, tenant, { key, body }), null)
    if (known === null) return null
    // What is too large takes longer to read than to ask again.
    const read = await ask(() => readingBack.read(known.trajectory), null)
    if (read?.kind !== 'found') return null
    const given = givenIn(read.recorded.trajectory, known.call)
    if (!given || clock.now() - given.endedAt > knownMs) return null
    if (known.body !== body) throw otherBody()
    return given
  }
}
