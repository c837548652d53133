import type { Caller } from '../ports.ts'
import { refusal } from './refusals.ts'

/**
 * How many bytes of request bodies, and of large answers, the process holds at once: many large ones together must not
 * exhaust its memory. One key takes at most half of it, so that nobody can keep all others out; of that, all sessions that
 * it made take at most half, and one of them at most a quarter, so that they cannot keep out their maker.
 */
export class BodySpace {
  readonly #capacity: number
  readonly #taken = new Map<string, number>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Room for one call, to be given back when it ends. */
  room({ key, parent, session }: Pick<Caller, 'key' | 'parent' | 'session'>): BodyRoom {
    const accounts: readonly Share[] = [
      { name: 'all', most: this.#capacity },
      { name: `key ${parent?.key ?? key}`, most: this.#capacity / 2 },
      ...(parent ? [{ name: `sessions of ${parent.key}`, most: this.#capacity / 4 }] : []),
      ...(session === null ? [] : [{ name: `session ${key}`, most: this.#capacity / 8 }]),
    ]
    let mine = 0
    const add = (bytes: number) => {
      mine += bytes
      for (const { name } of accounts) {
        const taken = (this.#taken.get(name) ?? 0) + bytes
        if (taken === 0) this.#taken.delete(name)
        else this.#taken.set(name, taken)
      }
    }
    return {
      take: (bytes) => {
        if (accounts.some(({ name, most }) => (this.#taken.get(name) ?? 0) + bytes > most)) {
          throw refusal(
            'no-room',
            'The gateway holds as many requests and answers as its memory allows.',
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

/** What counts for an account, and how many bytes that may be. */
interface Share {
  readonly name: string
  readonly most: number
}

/** One call's part of a {@link BodySpace}. */
export interface BodyRoom {
  /** @throws GatewayError 429 when there is no more. */
  readonly take: (bytes: number) => void
  readonly giveBack: () => void
}
