import { refusal } from './refusals.ts'

/** How many bytes of request bodies the process holds at once: many large ones together must not exhaust its memory. */
export class BodySpace {
  readonly #capacity: number
  #taken = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Room for one call, to be given back when it ends. */
  room(): BodyRoom {
    let mine = 0
    return {
      take: (bytes) => {
        if (this.#taken + bytes > this.#capacity) {
          throw refusal(
            'no-room',
            'The gateway holds as many request bodies as its memory allows.',
            'Send the request again in a moment.',
            { status: 429, type: 'rate_limit_error', retryAfterSeconds: 1 },
          )
        }
        this.#taken += bytes
        mine += bytes
      },
      giveBack: () => {
        this.#taken -= mine
        mine = 0
      },
    }
  }
}

/** One call's part of a {@link BodySpace}. */
export interface BodyRoom {
  /** @throws GatewayError 429 when there is no more. */
  readonly take: (bytes: number) => void
  readonly giveBack: () => void
}
