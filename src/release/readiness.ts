import type { VersionId } from '../core/index.ts'
import type { ServingAgent, Versions } from './assignment.ts'
import type { ServingAgents } from './served.ts'

/** Makes what is about to serve ready, so that no request waits for it. */
export interface ReadinessOptions {
  /** For example: lets the upstream load the adapter. Called once for versions that came to serve, or are tried. */
  readonly prepare: (agent: string, versions: Versions) => Promise<void>
  /** Something became ready, or has been waited for long enough. */
  readonly onReady: () => void
  readonly onProblem: (error: unknown) => void
  /** How long what serves everybody is waited for, in milliseconds. */
  readonly patienceMs: number
  /** After how many milliseconds a candidate that could not be made ready is tried again. */
  readonly retryMs: number
}

/** Versions that are being made ready. */
interface Waiting {
  readonly done: Promise<void>
  /** Ends the wait; `null` while only a canary asks for them. */
  patience: NodeJS.Timeout | null
}

/**
 * Which of the Versions that are to serve may serve yet. A candidate waits until it is ready; until then everybody gets
 * what serves. What serves everybody waits `patienceMs` at most, and not at all where it could not be made ready: a
 * rollback is not held up by what it goes back to, whose first requests then wait themselves. What was ready once counts as
 * ready: a rollback to what this process served before takes no time at all.
 */
export class Readiness {
  readonly #options: ReadinessOptions
  readonly #ready = new Set<string>()
  readonly #waiting = new Map<string, Waiting>()
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  /** What of `loaded` may serve now; the rest is made ready meanwhile. `inForce` is what served until now. */
  of(loaded: ServingAgents, inForce: ServingAgents): ServingAgents {
    return new Map([...loaded].map(([agent, next]) => [agent, this.#ofAgent(next, inForce.get(agent) ?? null)]))
  }

  /** Resolves when nothing is being made ready. */
  async idle(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all([...this.#waiting.values()].map(({ done }) => done))
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #ofAgent(next: ServingAgent, before: ServingAgent | null): ServingAgent {
    const { agent, versions, canary } = next
    const serves = this.#isReady(agent, versions, 'release')
    const tried = canary !== null && this.#isReady(agent, canary.versions, 'candidate')
    if (serves) return tried ? next : { ...next, canary: null }
    // Its own arms stay as they are until both can have what is new.
    const goesOn = before?.canary != null && before.canary.canary.id === canary?.canary.id
    return before ? { ...before, canary: goesOn ? before.canary : null } : { ...next, canary: null }
  }

  #isReady(agent: string, versions: Versions, as: 'release' | 'candidate'): boolean {
    const key = keyOf(agent, versions)
    if (this.#ready.has(key)) return true
    const waiting = this.#waiting.get(key) ?? this.#prepare(key, agent, versions)
    // Also for what a canary asked for first: a rollback to it is held up no longer than any other.
    if (as === 'release') waiting.patience ??= this.#later(() => this.#isNowReady(key), this.#options.patienceMs)
    return false
  }

  #prepare(key: string, agent: string, versions: Versions): Waiting {
    const { prepare, onReady, onProblem, retryMs } = this.#options
    const work = async () => {
      try {
        await prepare(agent, versions)
      } catch (error) {
        onProblem(error)
        if (waiting.patience === null) {
          this.#later(onReady, retryMs)
          return
        }
      } finally {
        if (waiting.patience) this.#cancel(waiting.patience)
        this.#waiting.delete(key)
      }
      this.#isNowReady(key)
    }
    const waiting: Waiting = { done: Promise.resolve().then(work), patience: null }
    this.#waiting.set(key, waiting)
    return waiting
  }

  #isNowReady(key: string): void {
    this.#ready.add(key)
    this.#options.onReady()
  }

  #later(act: () => void, ms: number): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms)
    timer.unref()
    this.#timers.add(timer)
    return timer
  }

  #cancel(timer: NodeJS.Timeout): void {
    clearTimeout(timer)
    this.#timers.delete(timer)
  }
}

const keyOf = (agent: string, versions: Versions) =>
  JSON.stringify([agent, ...[...versions.values()].map(({ id }): VersionId => id).toSorted()])
