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

/** Says who asks. @throws an error with a status for a key that is missing or wrong. */
export type Door = (headers: Headers) => Promise<Visitor>

/** Lets in whoever can reach the server. */
export const openDoor: Door = async () => ({ owner: 'open', bodyBytes: null, enter: () => () => {}, leave() {} })
