/** Who asks, and how much they may send. */
export interface Visitor {
  /** Whose models, samplers and checkpoints a request may reach: nobody else's. */
  readonly owner: string
  /** `null`: as the server is configured. */
  readonly bodyBytes: number | null
  /** Takes a place for the request, once its body has come; what comes back gives it up. @throws an error with a status. */
  enter(): () => void
  /** The request is over, or its body did not come. */
  leave(): void
}

/**
 * What a request takes of what its key may have: a place among its requests at a time and one of a minute's; one of a minute's
 * only, where it waits for the result of another; or nothing, where it says that the client is still there.
 */
export type Takes = 'place' | 'no place' | 'nothing'

/** Says who asks. @throws an error with a status for a key that is missing or wrong. */
export type Door = (headers: Headers, takes: Takes) => Promise<Visitor>

/** Lets in whoever can reach the server. */
export const openDoor: Door = async () => ({ owner: 'open', bodyBytes: null, enter: () => () => {}, leave() {} })
