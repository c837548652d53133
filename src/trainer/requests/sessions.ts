import { randomUUID } from 'node:crypto'
import type { TrainerHost } from '../host.ts'
import { SessionRef } from '../wire/bodies.ts'
import { readBody } from '../wire/read-body.ts'
import { sessionOf } from './accept.ts'

/** How often it is looked for sessions whose client is gone. */
const lookMs = 30_000

/** Who owns models at this server, for as long as its client gives a sign. */
export class Sessions {
  readonly #host: TrainerHost
  readonly #lifeMs: number
  /** Of the monotonic clock. A restart counts as a sign of every client. */
  readonly #signs = new Map<string, number>()
  readonly #began = performance.now()
  readonly #timer: NodeJS.Timeout

  constructor(host: TrainerHost, lifeMs: number, onFatal: (error: unknown) => void) {
    this.#host = host
    this.#lifeMs = lifeMs
    const isStale = (id: string) => performance.now() - (this.#signs.get(id) ?? this.#began) > this.#lifeMs
    this.#timer = setInterval(() => void host.tidy(isStale).catch(onFatal), Math.min(lookMs, lifeMs))
    this.#timer.unref()
  }

  /** `create_session`. */
  async create(owner: string) {
    const session_id = randomUUID()
    await this.#host.append({ type: 'session', session: { id: session_id, owner } })
    this.#signs.set(session_id, performance.now())
    return { type: 'create_session', session_id, info_message: null, warning_message: null, error_message: null }
  }

  /** `session_heartbeat`. */
  beat(owner: string, value: unknown) {
    const { id } = sessionOf(this.#host, owner, readBody(SessionRef, value).session_id)
    this.#signs.set(id, performance.now())
    return { type: 'session_heartbeat' }
  }

  /** `sessions/{id}/finish`: its models are unloaded at once. */
  async finish(owner: string, id: string): Promise<void> {
    await this.#host.endSession(sessionOf(this.#host, owner, id).id)
    this.#signs.delete(id)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
