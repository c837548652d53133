import { refusal } from './refusals.ts'

/**
 * How many bytes of request bodies the process holds at once: many large ones together must not exhaust its memory. One
 * key takes at most half of it, so that nobody can keep all others out.
 */
export class BodySpace {
  readonly #capacity: number
  readonly #byKey = new Map<string, number>()
  #taken = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Room for one call of a key, to be given back when it ends. */
  room(key: string): BodyRoom {
    let mine = 0
    const add = (bytes: number) => {
      const ofKey = (this.#byKey.get(key) ?? 0) + bytes
      if (ofKey === 0) this.#byKey.delete(key)
      else this.#byKey.set(key, ofKey)
      this.#taken += bytes
      mine += bytes
    }
    return {
      take: (bytes) => {
        const ofKey = this.#byKey.get(key) ?? 0
        if (this.#taken + bytes > this.#capacity || ofKey + bytes > this.#capacity / 2) {
          throw refusal(
            'no-room',
            'The gateway holds as many request bodies as its memory allows.',
            'Send the request again in a moment.',
            { status: 429, type: 'rate_limit_error', retryAfterSeconds: 1 },
          )
        }
        add(bytes)
      },
      giveBack: () => add(-mine),
    }
  }
}

/** One call's part of a {@link BodySpace}. */
export interface BodyRoom {
  /** @throws GatewayError 429 when there is no more. */
  readonly take: (bytes: number) => void
  readonly giveBack: () => void
}
