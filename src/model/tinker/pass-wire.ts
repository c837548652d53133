import type { z } from 'zod'
import type { Pass, PassOutput } from './pass.ts'
import { passProtobuf } from './protobuf.ts'
import { type Accepted, passResult, type Requests } from './requests.ts'
import type { HttpRequest } from './tinker-http.ts'
import { TinkerError } from './tinker-error.ts'
import { FutureCreated, passJson } from './wire.ts'

/** In which format bodies of passes are sent. `ask`: JSON, unless the server refuses it; remembered. */
export type WireFormat = 'json' | 'protobuf' | 'ask'

/**
 * Sends passes in the format that the server takes. SkyRL from 0.4 on wants protobuf and answers JSON with 415; older servers
 * want JSON. For a pass that accumulates nothing, JSON has the endpoint `forward`, which newer servers do not have.
 */
export class PassWire {
  readonly #requests: Requests
  #format: WireFormat

  constructor(requests: Requests, format: WireFormat) {
    this.#requests = requests
    this.#format = format
  }

  async start(pass: Pass): Promise<Accepted<z.infer<typeof FutureCreated>, PassOutput>> {
    const what = pass.forwardOnly ? 'forward' : 'forward_backward'
    const send = (request: HttpRequest) => this.#requests.start(request, what, passResult, { taken: FutureCreated })
    if (this.#format !== 'protobuf') {
      try {
        const accepted = await send({ method: 'POST', ...passJson(pass) })
        this.#format = 'json'
        return accepted
      } catch (error) {
        if (this.#format !== 'ask' || !wantsProtobuf(error, pass.forwardOnly)) throw error
        this.#format = 'protobuf'
      }
    }
    return send({ method: 'POST', path: '/forward_backward', body: passProtobuf(pass) })
  }
}

/** "Not Found" is what a server says of an endpoint; of a model it says more. */
const wantsProtobuf = (error: unknown, forwardOnly: boolean): boolean =>
  error instanceof TinkerError &&
  (error.status === 415 ||
    (forwardOnly && (error.status === 405 || (error.status === 404 && error.message.endsWith(': Not Found')))))
