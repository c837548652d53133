import { LRUCache } from 'lru-cache'
import type { CallId, TrajectoryId, VersionId } from '../../core/index.ts'
import type { Recollected } from '../agents/index.ts'

/** What one Version of a memory recalled in a session for one query. */
export interface Recall extends Recollected {
  readonly version: VersionId
  /** The call that its Decision is written with, which is written once; `null` as long as there is none. */
  writtenBy: CallId | 'stored' | null
}

/** Of several recalls: what a call has just read back must not go before it is used. */
const fewestBytes = 1024 * 1024
/** About what one takes beside its texts. */
const bytesOfRecall = 500

/**
 * What was recalled in sessions: a query that comes again in a session gets what it got, so that its prompt stays as it is,
 * and so do providers' caches of it. Of bounded size, the least recently used goes first.
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

  /** What was recalled for this query, or else what `recall` says now; calls at the same time get the same. */
  async once(
    trajectory: TrajectoryId,
    version: VersionId,
    query: string,
    recall: () => Promise<Recollected>,
  ): Promise<Recall> {
    const key = keyOf(trajectory, version, query)
    const known = this.#known.get(key)
    if (known) return known
    let recalling = this.#recalling.get(key)
    if (!recalling) {
      recalling = recall()
        .then((recollected) => this.#add(key, { ...recollected, version, writtenBy: null }))
        .finally(() => this.#recalling.delete(key))
      this.#recalling.set(key, recalling)
    }
    return recalling
  }

  /** Takes in what a trajectory in the store says was recalled; what is known stays as it is. */
  learn(trajectory: TrajectoryId, query: string, recall: Omit<Recall, 'writtenBy'>): void {
    const key = keyOf(trajectory, recall.version, query)
    const known = this.#known.get(key)
    if (known) known.writtenBy ??= 'stored'
    else this.#add(key, { ...recall, writtenBy: 'stored' })
  }

  clear(): void {
    this.#known.clear()
  }

  #add(key: string, recall: Recall): Recall {
    this.#known.set(key, recall)
    return recall
  }
}

const keyOf = (trajectory: TrajectoryId, version: VersionId, query: string) => `${trajectory} ${version} ${query}`
