import { requestError } from '../errors.ts'
import type { Outcome, StoredRequest } from '../journal/events.ts'
import type { TrainerState } from '../journal/state.ts'
import { Turns } from './turns.ts'

/** So often may the process end while a request is under way. */
const mostEnds = 3

export interface SuspectsOptions {
  readonly state: TrainerState
  /** Writes down that requests are about to be done. */
  readonly begin: (ids: readonly string[]) => Promise<void>
}

/**
 * Requests that were under way when the process ended. One of them may be why, so each is done alone from then on, and is
 * refused after it was under way at {@link mostEnds} ends: without this, one request would end the server for ever.
 */
export class Suspects {
  readonly #options: SuspectsOptions
  readonly #turns = new Turns()

  constructor(options: SuspectsOptions) {
    this.#options = options
  }

  has(id: string): boolean {
    return this.#options.state.begun(id) > 0
  }

  /** Work that no request is to blame for; not while a suspect is done. */
  beside<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.do(work, false)
  }

  /** Does the work for requests, after it is written down that they are begun; their refusal where that was too often. */
  async attempt<T>(
    requests: readonly StoredRequest[],
    work: () => Promise<T>,
    refused: (outcome: Outcome) => Promise<T>,
  ): Promise<T> {
    const ids = requests.map(({ id }) => id)
    if (ids.some((id) => this.#options.state.begun(id) >= mostEnds)) return refused(endsServer())
    const begun = async () => {
      await this.#options.begin(ids)
      return work()
    }
    return this.#turns.do(
      begun,
      ids.some((id) => this.has(id)),
    )
  }
}

function endsServer(): Outcome {
  const { code, message, hint } = requestError(
    'ends-server',
    `The server ended ${mostEnds} times while it did this request, so it is not tried again. Nothing of it was done.`,
    'Ask for less at once (shorter sequences, fewer data, a smaller rank), and look into the log of the server.',
  )
  return { kind: 'failed', message: `${message} ${hint}`, category: 'user', code }
}
