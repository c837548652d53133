import {
  type Assignment,
  type CanaryId,
  type Clock,
  type ServedBy,
  type SessionOwner,
  type SessionRouter,
  systemClock,
  type TrajectoryId,
} from '../core/index.ts'
import { assignmentOf, type ServingAgent, type Versions } from './assignment.ts'
import { Readiness } from './readiness.ts'
import { loadServed, type ServingAgents, type ServingStore } from './served.ts'

/** What a router needs. */
export interface ReleaseRouterOptions {
  readonly store: ServingStore
  /** The agents that it routes, by their {@link agentKey}; `null` for all that have releases. */
  readonly agents: readonly string[] | null
  /** How often it asks whether something changed, in milliseconds: a rollback reaches this process after at most so long. */
  readonly everyMs?: number
  /**
   * Makes Versions ready before they serve: lets the upstream load their weights. Called for what serves and for what is
   * tried, once for each set. What serves everybody waits for it half a second at most.
   */
  readonly prepare?: (agent: string, versions: Versions) => Promise<void>
  /** Told of what serves from now on. */
  readonly onChange?: (served: ServingAgents) => void
  /** Told once of every outage of the store, of agents that cannot be read, and of what could not be made ready. */
  readonly onProblem?: (error: unknown) => void
  readonly clock?: Clock
}

/** A SessionRouter that follows the store. */
export interface ReleaseRouter extends SessionRouter {
  /** What serves now in this process: the same object until something changes. */
  readonly served: ServingAgents
  /** When the store was last asked with success, in milliseconds since the epoch. */
  readonly askedAt: number
  /** Asks the store now: what this process changed itself need not wait. Never throws: `onProblem` is told. */
  refresh(): Promise<void>
  /** Stops asking. What is known goes on serving. */
  close(): Promise<void>
}

/**
 * Opens a router: it knows what serves, and asks the store every so often whether that changed. If the store cannot be
 * read, what it knows goes on serving, but for a canary that nobody is known to watch any more: then everybody gets what
 * it is tried beside.
 * @throws StoreError when the store cannot be read at the start.
 */
export async function openReleaseRouter(options: ReleaseRouterOptions): Promise<ReleaseRouter> {
  const router = new PollingRouter(options)
  await router.open()
  return router
}

const defaultEveryMs = 200
const patienceMs = 500
const retryMs = 5_000

class PollingRouter implements ReleaseRouter {
  readonly #options: ReleaseRouterOptions
  readonly #wanted: ReadonlySet<string> | null
  readonly #clock: Clock
  /** `null` where nothing has to be made ready. */
  readonly #readiness: Readiness | null
  /** The revision that `#loaded` is of; `null` where it has to be read again. */
  #revision: number | null = null
  #loaded: ServingAgents = new Map()
  #served: ServingAgents = new Map()
  #watchedUntil: ReadonlyMap<CanaryId, number> = new Map()
  #askedAt = 0
  #failing = false
  #asking: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null
  #closed = false

  constructor(options: ReleaseRouterOptions) {
    const { agents, prepare, onProblem = () => {}, clock = systemClock } = options
    this.#options = options
    this.#wanted = agents && new Set(agents)
    this.#clock = clock
    const onReady = () => this.#swap()
    this.#readiness = prepare ? new Readiness({ prepare, onProblem, onReady, patienceMs, retryMs }) : null
  }

  get served(): ServingAgents {
    return this.#served
  }

  get askedAt(): number {
    return this.#askedAt
  }

  async open(): Promise<void> {
    await this.#ask()
    await this.#readiness?.idle()
    this.#schedule()
  }

  assign(agent: string, session: TrajectoryId, known: ServedBy | null, owner?: SessionOwner): Assignment | null {
    const served = this.#served.get(agent)
    return served ? assignmentOf(served, session, known, this.#isWatched(served), owner) : null
  }

  async refresh(): Promise<void> {
    // A question under way may have been asked before what it is to find was written.
    await this.#asking
    await this.#askSafely()
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
    this.#readiness?.close()
    await this.#asking
  }

  #schedule(): void {
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      void this.#askSafely().then(() => this.#schedule())
    }, this.#options.everyMs ?? defaultEveryMs)
    this.#timer.unref()
  }

  #askSafely(): Promise<void> {
    this.#asking ??= this.#ask()
      .then(
        () => {
          this.#failing = false
        },
        (error: unknown) => {
          if (!this.#failing) this.#options.onProblem?.(error)
          this.#failing = true
        },
      )
      .finally(() => {
        this.#asking = null
      })
    return this.#asking
  }

  async #ask(): Promise<void> {
    const { store } = this.#options
    // Before what it is the number of: what changes while that is read is read again.
    const revision = await store.releases.revision()
    if (revision !== this.#revision) {
      const { served, failures } = await loadServed(store, this.#wanted, this.#loaded)
      const [first] = failures
      this.#loaded = served
      this.#swap()
      await this.#loadWatched()
      this.#revision = first === undefined ? revision : null
      if (first !== undefined) throw first
    } else await this.#loadWatched()
    this.#askedAt = this.#clock.now()
  }

  /** By this clock, so that it ends also where the store cannot be asked. */
  #isWatched({ canary }: ServingAgent): boolean {
    return canary !== null && this.#clock.now() < (this.#watchedUntil.get(canary.canary.id) ?? 0)
  }

  async #loadWatched(): Promise<void> {
    if (![...this.#loaded.values()].some(({ canary }) => canary !== null)) return
    const watched = await this.#options.store.canaries.watched()
    this.#watchedUntil = new Map(watched.map(({ canary, until }) => [canary, until]))
  }

  #swap(): void {
    if (this.#closed) return
    const next = this.#readiness?.of(this.#loaded, this.#served) ?? this.#loaded
    this.#served = next
    this.#options.onChange?.(next)
  }
}
