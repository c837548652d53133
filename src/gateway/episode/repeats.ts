import { LRUCache } from 'lru-cache'
import { type CallId, type ChatRequest, type RequestIdentity, sha256, type TrajectoryId } from '../../core/index.ts'
import { GatewayError } from '../errors.ts'
import type { RequestContext } from '../ports.ts'
import type { Given } from './replay.ts'

/** What makes a repeated request the same request, and for whom. */
export interface Identity extends RequestIdentity {
  readonly tenant: string
  readonly apiKey: string
  /** Whether it may have been sent before: it has an idempotency key, or its SDK says that it repeats it. */
  readonly mayRepeat: boolean
}

/** What a client, by its key or by its SDK, repeats its request as. Neither the key nor the body can be read from it. */
export function identityOf(request: ChatRequest, context: RequestContext): Identity {
  const { caller, session, subject, idempotencyKey, retry } = context
  const { tenant, key: apiKey } = caller
  const body = sha256(JSON.stringify(request))
  return idempotencyKey === null
    ? { tenant, apiKey, body, key: `sdk:${sha256(JSON.stringify([session, subject, body]))}`, mayRepeat: retry > 0 }
    : { tenant, apiKey, body, key: `key:${sha256(idempotencyKey)}`, mayRepeat: true }
}

/** A call that is being answered. */
export interface Claim {
  readonly slot: string
  readonly body: string
}

/** A call that was answered, or not: then `given` is `null`. */
export interface Ended {
  readonly body: string
  readonly trajectory: TrajectoryId
  readonly call: CallId
  readonly given: Given | null
  readonly at: number
}

/**
 * - `new`: to be answered, in the trajectory and in the place of the try that failed, where there was one.
 * - `unknown`: to be answered, unless the store knows it.
 */
export type Remembered =
  | { readonly kind: 'new' | 'unknown'; readonly claim: Claim; readonly failed: Ended | null }
  | { readonly kind: 'given'; readonly given: Given }
  | { readonly kind: 'in-flight' }

/** SDKs retry within seconds; what a client names itself, the store knows for longer. */
const mostRememberedMs = 10 * 60_000
const rememberedBytes = 16 * 1024 * 1024
/** Equal requests, one after the other, that are told apart. */
const mostEqual = 8

/** The requests of the last minutes: what a repeated one repeats. The store knows older ones, and other gateways'. */
export class Repeats {
  readonly #rememberedMs: number
  readonly #underWay = new Map<string, Set<Claim>>()
  /** The latest first. */
  readonly #ended = new LRUCache<string, readonly Ended[]>({
    maxSize: rememberedBytes,
    sizeCalculation: (ended) => ended.reduce((sum, { given }) => sum + 400 + (given ? sizeOf(given) : 0), 0),
  })

  /** @param knownMs how long a repeated request is known again at all. */
  constructor(knownMs: number) {
    this.#rememberedMs = Math.min(knownMs, mostRememberedMs)
  }

  /**
   * Takes a request in: from now on, who repeats it hears that it is being answered, until {@link end} or {@link release}.
   * @throws GatewayError 409 when an idempotency key comes with another body.
   */
  begin(identity: Identity, now: number): Remembered {
    const slot = JSON.stringify([identity.tenant, identity.apiKey, identity.key])
    const claim: Claim = { slot, body: identity.body }
    if (!identity.mayRepeat) return { kind: 'new', claim: this.#claim(claim), failed: null }

    const underWay = [...(this.#underWay.get(slot) ?? [])]
    const ended = (this.#ended.get(slot) ?? []).filter(({ at }) => now - at < this.#rememberedMs)
    if ([...underWay, ...ended].some(({ body }) => body !== identity.body)) throw otherBody()
    // Of equal requests, who repeats one had no answer to it.
    const failed = ended.find(({ given }) => given === null)
    if (failed) {
      this.#put(
        slot,
        ended.filter((one) => one !== failed),
      )
      return { kind: 'new', claim: this.#claim(claim), failed }
    }
    if (underWay.length > 0) return { kind: 'in-flight' }
    const [latest] = ended
    if (latest?.given) return { kind: 'given', given: latest.given }
    return { kind: 'unknown', claim: this.#claim(claim), failed: null }
  }

  /** The call is over. */
  end(claim: Claim, ended: Omit<Ended, 'body'>): void {
    this.release(claim)
    const known = this.#ended.get(claim.slot) ?? []
    this.#put(claim.slot, [{ ...ended, body: claim.body }, ...known].slice(0, mostEqual))
  }

  /** The request did not become a call. */
  release(claim: Claim): void {
    const claims = this.#underWay.get(claim.slot)
    claims?.delete(claim)
    if (claims?.size === 0) this.#underWay.delete(claim.slot)
  }

  clear(): void {
    this.#ended.clear()
  }

  #claim(claim: Claim): Claim {
    const claims = this.#underWay.get(claim.slot) ?? new Set()
    this.#underWay.set(claim.slot, claims.add(claim))
    return claim
  }

  #put(slot: string, ended: readonly Ended[]): void {
    if (ended.length > 0) this.#ended.set(slot, ended)
    else this.#ended.delete(slot)
  }
}

export function otherBody(): GatewayError {
  return new GatewayError({
    status: 409,
    type: 'invalid_request_error',
    code: 'gateway/idempotency-conflict',
    message: 'The idempotency key was used for another request.',
    hint: 'Use a new key for each request, and the same one only to repeat it unchanged.',
    param: 'idempotency-key',
  })
}

function sizeOf({ choices }: Given): number {
  return choices.reduce((sum, { message }) => sum + 2 * charactersIn(message), 200)
}

/** About how many characters a value's JSON has, without writing it. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  let sum = 2
  for (const key in value) sum += key.length + 4 + charactersIn(value[key as keyof typeof value])
  return sum
}
