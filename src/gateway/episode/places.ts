import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import {
  type KnownTurn,
  type ProducedTurn,
  sha256,
  type Store,
  type Tenant,
  type TrajectoryId,
} from '../../core/index.ts'
import { type AttachPoint, attachPoints, producedAt, turnEnds } from './attach.ts'
import { beginning, type Conversation } from './conversation.ts'
import type { KnownNode, KnownNodes } from './known-nodes.ts'
import { learnTree } from './learn-tree.ts'
import type { Recalls } from './recalls.ts'
import type { ReadingBack } from './reading-back.ts'
import { saysTheSame } from './spoken.ts'

/** Who asks, as far as it decides which conversations may be recognised. */
export interface Asker {
  readonly key: string
  readonly tenant: Tenant
  readonly session: string | null
  /** The person that it is about: two people who begin alike are two conversations. */
  readonly subject: string | null
}

export interface PlacesOptions {
  readonly store: Pick<Store, 'traffic' | 'trajectories'>
  readonly readingBack: ReadingBack
  readonly known: KnownNodes
  readonly recalls: Recalls
  /** Asks the store; what it says when it cannot answer is the recorder's to decide. */
  readonly ask: <T>(question: () => Promise<T>, otherwise: T) => Promise<T>
  /** Told what went wrong where the call goes on without it. */
  readonly onProblem: (error: unknown) => void
  /** A session's name as it is written. */
  readonly sessionAsStored: (name: string, tenant: Tenant) => string
  /** How long a trajectory may take to be read from the store. */
  readonly patienceMs: number
}

/** A trajectory of more calls is not read back: reading it would take longer than any call may wait. */
const mostCallsRead = 2_000
/** Assistant turns of a history that are looked up, from its end. */
const mostTurns = 512
/** Trajectories that are looked at, where many have the same conversation. */
const mostAlike = 8
const mostRemembered = 50_000

/** Finds where a conversation that comes again belongs: in this process's memory, or else in the store. */
export class Places {
  readonly #options: PlacesOptions
  /** Turns that this process saw committed, by who may recognise them; the latest first. */
  readonly #turns = new LRUCache<string, readonly KnownTurn[]>({ max: mostRemembered })
  readonly #reading = new Map<TrajectoryId, Promise<void>>()

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  /**
   * The trajectory that the request's history belongs to, of the same key and tenant only: the one with the longest part
   * of it that ends with a turn of ours. Of several, one whose turn nothing follows yet, or else the latest.
   */
  async recognise(conversation: Conversation, asker: Asker): Promise<TrajectoryId | null> {
    const ends = turnEnds(conversation).slice(0, mostTurns)
    const [last] = ends
    if (last === undefined) return null
    const remembered = await this.#likeliest(conversation, last, asker, (digest) => this.#remembered(asker, digest))
    if (remembered?.open) return remembered.trajectory
    const stored = await this.#stored(conversation, asker, ends, null)
    for (const end of stored.length > 0 ? ends : []) {
      const found = await this.#likeliest(conversation, end, asker, (wanted) =>
        stored.filter(({ digest }) => digest === wanted),
      )
      if (found) return found.trajectory
    }
    return remembered?.trajectory ?? null
  }

  /** Reads what the store knows of this trajectory, unless that is known here. */
  async learn(trajectory: TrajectoryId, asker: Asker): Promise<void> {
    if (!this.#options.known.tree(trajectory).complete) await this.#read(trajectory, asker)
  }

  /** Where in this trajectory the request may go on. */
  async within(trajectory: TrajectoryId, conversation: Conversation, asker: Asker): Promise<readonly AttachPoint[]> {
    const { known } = this.#options
    const ends = turnEnds(conversation).slice(0, mostTurns)
    const [last] = ends
    if (last === undefined) return []
    if (producedAt(known, trajectory, conversation, last).length === 0) {
      await this.learn(trajectory, asker)
      // What another gateway wrote meanwhile, and turns by the digests that they were written under.
      for (const turn of await this.#stored(conversation, asker, ends, trajectory)) {
        if (turn.trajectory === trajectory) await this.#nodeOf(turn, asker)
      }
    }
    return attachPoints(known, trajectory, conversation)
  }

  /** Remembers turns that were committed: those that can be recognised. */
  remember(trajectory: TrajectoryId, turns: readonly ProducedTurn[], asker: Asker): void {
    if (asker.session !== null) return
    for (const turn of turns) {
      const key = keyOf(asker, turn.digest)
      const known = this.#turns.get(key) ?? []
      this.#turns.set(key, [{ ...turn, trajectory }, ...known].slice(0, mostAlike))
    }
  }

  clear(): void {
    this.#turns.clear()
  }

  /** Of the turns that the conversation may end with at `end`, the one that it likely goes on from. */
  async #likeliest(
    { points }: Conversation,
    end: number,
    asker: Asker,
    turnsWith: (digest: string) => readonly KnownTurn[],
  ): Promise<{ readonly trajectory: TrajectoryId; readonly open: boolean } | null> {
    const point = points[end]
    const sent = point?.spoken
    if (!sent) return null
    for (const digest of [point.exact, point.loose]) {
      let latest: TrajectoryId | null = null
      for (const turn of digest === null ? [] : turnsWith(digest).slice(0, mostAlike)) {
        const node = await this.#nodeOf(turn, asker)
        const same = digest === point.exact || saysTheSame(node?.answer?.calls ?? [], sent.calls)
        if (!same) continue
        if (node && !node.continued) return { trajectory: turn.trajectory, open: true }
        latest ??= turn.trajectory
      }
      if (latest !== null) return { trajectory: latest, open: false }
    }
    return null
  }

  #remembered(asker: Asker, digest: string): readonly KnownTurn[] {
    return this.#turns.get(keyOf(asker, digest)) ?? []
  }

  /** @param trajectory that they are looked for in; `null` for any that has no name. */
  async #stored(
    { points }: Conversation,
    asker: Asker,
    ends: readonly number[],
    trajectory: TrajectoryId | null,
  ): Promise<readonly KnownTurn[]> {
    const { store, ask } = this.#options
    const plain = new Map<string, string>()
    for (const end of ends) {
      const { exact, loose } = points[end] ?? beginning
      for (const digest of loose === null ? [exact] : [exact, loose]) {
        plain.set(turnDigest(digest, trajectory, asker), digest)
      }
    }
    const turns = await ask(() => store.traffic.turns(asker.key, asker.tenant, [...plain.keys()]), [])
    return turns.map((turn) => ({ ...turn, digest: plain.get(turn.digest) ?? turn.digest }))
  }

  /** The node of a turn, from then on found by the digest that it was written under. */
  async #nodeOf(turn: KnownTurn, asker: Asker): Promise<KnownNode | undefined> {
    const { known } = this.#options
    if (!known.node(turn.trajectory, turn.node)) await this.#read(turn.trajectory, asker)
    const node = known.node(turn.trajectory, turn.node)
    if (node) known.bind(turn.trajectory, turn.digest, node)
    return node
  }

  /** Reads a trajectory from the store, unless that takes too long: then the call goes on with what is known here. */
  async #read(trajectory: TrajectoryId, asker: Asker): Promise<void> {
    let reading = this.#reading.get(trajectory)
    if (!reading) {
      reading = this.#readWhole(trajectory, asker)
        .catch((error: unknown) => this.#options.onProblem(error))
        .finally(() => this.#reading.delete(trajectory))
      this.#reading.set(trajectory, reading)
    }
    await Promise.race([reading, delay(this.#options.patienceMs, undefined, { ref: false })])
  }

  async #readWhole(trajectory: TrajectoryId, { tenant, session }: Asker): Promise<void> {
    const { known, recalls, store, readingBack, sessionAsStored } = this.#options
    if (session !== null) {
      const filter = { tenant, session: sessionAsStored(session, tenant), origin: 'traffic' as const, limit: 1 }
      const [summary] = await store.trajectories.summaries(filter)
      if (summary && (summary.calls ?? 0) > mostCallsRead) return
    }
    const read = await readingBack.read(trajectory)
    if (read.kind === 'none') known.tree(trajectory).complete = true
    if (read.kind !== 'found') return
    const { origin } = read.recorded.trajectory
    if (origin.kind === 'traffic' && origin.tenant === tenant) {
      await learnTree(known, recalls, read.recorded.trajectory, read.weight)
    }
  }
}

/**
 * By what a turn is looked up in the store. Within a session that has a name it is the session's own: a conversation
 * without a name never goes on in one that has one, however alike. Without a name it is the person's own.
 */
export function turnDigest(
  digest: string,
  trajectory: TrajectoryId | null,
  { session, subject }: Pick<Asker, 'session' | 'subject'>,
): string {
  if (session !== null) return trajectory === null ? digest : sha256(`${trajectory}\n${digest}`).slice(0, 40)
  return subject === null ? digest : sha256(JSON.stringify([subject, digest])).slice(0, 40)
}

function keyOf({ tenant, key, subject }: Asker, digest: string): string {
  return JSON.stringify([tenant, key, subject, digest])
}
