import { LRUCache } from 'lru-cache'
import type { Audience, CallId, TrajectoryId, VersionId } from '../../core/index.ts'
import type { Recollected, ServedMemory } from '../agents/index.ts'

/** What one Version of a memory recalled in a session for one query. */
export interface Recall extends Recollected, Pick<ServedMemory, 'kind' | 'version'> {
  /** The call that its Decision is written with, which is written once; `null` as long as there is none. */
  writtenBy: CallId | 'stored' | null
}

/** What is asked of a memory, and for whom. */
export interface Asked {
  readonly trajectory: TrajectoryId
  readonly query: string
  readonly audience: Audience
}

/** Of several recalls: what a call has just read back must not go before it is used. */
const fewestBytes = 1024 * 1024
/** About what one takes beside its texts. */
const bytesOfRecall = 500

/**
 * What was recalled in sessions: a query that comes again in a session gets what it got, so that its prompt stays as it is,
 * and so do providers' caches of it. What an erasure took from the memory is not shown again. Of bounded size, the least
 * recently used goes first.
 */
export class Recalls {
  readonly #known: LRUCache<string, Recall>
  readonly #recalling = new Map<string, Promise<Recall>>()

  /**
   * @param bytes about how much memory it may take; at least a mebibyte.
   * @param onForgotten told of a trajectory of which not all is known here any more.
   */
  constructor(bytes: number, onForgotten: (trajectory: TrajectoryId) => void) {
    this.#known = new LRUCache({
      maxSize: Math.max(fewestBytes, Math.ceil(bytes)),
      sizeCalculation: ({ text, made }, key) =>
        bytesOfRecall + 2 * (key.length + (text?.length ?? 0) + JSON.stringify(made).length),
      dispose: (_, key, reason) => {
        if (reason === 'evict') onForgotten(key.slice(0, key.indexOf(' ')) as TrajectoryId)
      },
    })
  }

  /**
   * What this memory recalled for the query, or else what `recall` says now; calls at the same time get the same.
   * @throws what `recall` throws.
   */
  async once(memory: ServedMemory, asked: Asked, recall: () => Promise<Recollected>): Promise<Recall> {
    const { trajectory, query, audience } = asked
    const key = keyOf(trajectory, memory.version, query, audience.subject)
    const known = this.#known.get(key)
    if (known && memory.holds(known, audience)) return known
    let recalling = this.#recalling.get(key)
    if (!recalling) {
      recalling = recall()
        .then((recollected) => {
          const { kind, version } = memory
          return this.#add(key, { ...recollected, kind, version, writtenBy: null })
        })
        .finally(() => this.#recalling.delete(key))
      this.#recalling.set(key, recalling)
    }
    return recalling
  }

  /**
   * Takes in what a trajectory in the store says was recalled; what is known stays as it is. The store does not say for whom it
   * was: whether it may be shown is asked when it is.
   * @param people whom the trajectory's calls may have been about.
   */
  learn(
    trajectory: TrajectoryId,
    query: string,
    people: readonly (string | null)[],
    recall: Omit<Recall, 'writtenBy'>,
  ): void {
    const learned: Recall = { ...recall, writtenBy: 'stored' }
    for (const person of people) {
      const key = keyOf(trajectory, recall.version, query, person)
      const known = this.#known.get(key)
      if (known) known.writtenBy ??= 'stored'
      else this.#add(key, learned)
    }
  }

  clear(): void {
    this.#known.clear()
  }

  #add(key: string, recall: Recall): Recall {
    this.#known.set(key, recall)
    return recall
  }
}

const keyOf = (trajectory: TrajectoryId, version: VersionId, query: string, person: string | null) =>
  `${trajectory} ${JSON.stringify([version, person, query])}`
