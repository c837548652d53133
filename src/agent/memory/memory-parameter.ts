import {
  type Audience,
  type Bound,
  type DecisionRecorder,
  defaultTenant,
  type Embedder,
  type Message,
  notByChance,
  type Propensity,
} from '../../core/index.ts'
import type { MemoryArchive } from './archive.ts'
import { Bank } from './bank.ts'
import { clipped } from './clipped.ts'
import { noArchive } from './errors.ts'
import type { Found } from './found.ts'
import { type MemoryItem, memoryBounds } from './item.ts'
import type { MemoryMade, RecalledItem } from './made.ts'
import { ranked } from './rank.ts'
import { remembered } from './shown.ts'
import type { MemoryValue } from './value.ts'
import { embedded } from './vector.ts'

/** What a program sees of a recalled item. */
export type Recollection = Pick<MemoryItem, 'id' | 'type' | 'cue' | 'text' | 'worked' | 'trust'>

/** Items that are looked at for each one that is recalled: utility chooses among them. */
const lookedAt = 5
const fewest = 20

/** A memory inside an episode. What it recalls is data: it came from earlier episodes, and may be wrong. */
export class MemoryParameter {
  readonly #bound: Bound<MemoryValue>
  readonly #recorder: DecisionRecorder<MemoryMade>
  readonly #embedder: Embedder
  readonly #archives: readonly MemoryArchive[]
  readonly #audience: Audience
  /** A query that comes again gets what it got: a session's prompt stays as it is, and so do providers' caches of it. */
  readonly #asked = new Map<string, Promise<{ items: readonly Recollection[]; messages: readonly Message[] }>>()
  /** Whether an item is left out of this episode; one draw each. */
  readonly #leftOut = new Map<string, boolean>()
  /** Whether this episode recalls nothing; `null` before it is drawn. */
  #withheld: boolean | null = null

  constructor(
    bound: Bound<MemoryValue>,
    recorder: DecisionRecorder<MemoryMade>,
    embedder: Embedder,
    archives: readonly MemoryArchive[] = [],
  ) {
    this.#bound = bound
    this.#recorder = recorder
    this.#embedder = embedder
    this.#archives = archives
    this.#audience = bound.audience ?? { tenant: defaultTenant, subject: null, at: Date.now() }
  }

  /**
   * What is remembered of things like this, as one message to put after the stable prefix (system prompt, tools) and before
   * what is asked; nothing, where nothing is near enough.
   * @throws MemoryError for an embedder other than the memory was made with.
   */
  async recall(query: string): Promise<readonly Message[]> {
    return (await this.#once(query)).messages
  }

  /** The same for a program that reads it itself. It is one Decision with {@link recall} of the same query. */
  async find(query: string): Promise<readonly Recollection[]> {
    return (await this.#once(query)).items
  }

  /** Says what is worth remembering of this episode. Without a note it is what the policy said and called. */
  note(text: string): void {
    const kept = clipped(text, memoryBounds.textBytes / 2)
    this.#recorder.decide({ made: { did: 'note', text: kept }, propensity: notByChance })
  }

  #once(query: string) {
    const known = this.#asked.get(query)
    if (known) return known
    const answer = this.#recall(query)
    this.#asked.set(query, answer)
    return answer
  }

  async #recall(query: string) {
    const { value } = this.#bound
    const holdsNothing = value.items.length === 0 && value.archives === undefined
    const best = holdsNothing ? [] : await this.#best(query)
    const episode = best.length === 0 ? null : this.#withholds()
    // What is withheld whole leaves no single item to chance.
    const leave = best.map(({ item }) => (episode?.left ? { left: true, drawn: false } : this.#leaves(item.id)))
    const items: RecalledItem[] = best.map(({ item, similarity, score }, i) => ({
      id: item.id,
      similarity,
      score,
      shown: !leave[i]?.left,
    }))
    const made = { did: 'recall', query: clipped(query, memoryBounds.cueBytes), items, explore: value.explore } as const
    this.#recorder.decide({ made, propensity: this.#propensity(episode, leave) })
    const shown = best.filter((_, i) => !leave[i]?.left).map(({ item }) => recollection(item))
    return { items: shown, messages: shown.length === 0 ? [] : [remembered(shown)] }
  }

  async #best(query: string) {
    const { value } = this.#bound
    const [vector] = await embedded(this.#embedder, [query])
    if (!vector) return []
    const bank = await Bank.of(value, this.#embedder)
    const count = Math.max(fewest, lookedAt * value.recall)
    const own = bank.near(vector, count, value.floor, this.#audience)
    // Each has its own count: what was learned stays in sight, however much is archived.
    const archived = this.#archived().flatMap((one) => bank.archived(one, vector, count, value.floor, this.#audience))
    return ranked(oneOfEach([...own, ...archived]), value.recall, value.selector)
  }

  #archived(): readonly MemoryArchive[] {
    return (this.#bound.value.archives ?? []).map((archive) => {
      const given = this.#archives.find(({ id }) => id === archive)
      if (!given) throw noArchive(archive)
      return given
    })
  }

  #withholds(): Draw {
    const { withhold = 0 } = this.#bound.value
    const before = this.#withheld
    if (before !== null) return { left: before, drawn: false }
    this.#withheld = withhold === 1 || (withhold > 0 && this.#bound.rng.next() < withhold)
    return { left: this.#withheld, drawn: withhold > 0 && withhold < 1 }
  }

  #leaves(id: string): Draw {
    const { explore } = this.#bound.value
    const before = this.#leftOut.get(id)
    if (before !== undefined) return { left: before, drawn: false }
    const left = explore > 0 && this.#bound.rng.next() < explore
    this.#leftOut.set(id, left)
    return { left, drawn: explore > 0 }
  }

  /** Exact: each draw is independent of the others, and one of before has no chance left. */
  #propensity(episode: Draw | null, leave: readonly Draw[]): Propensity {
    const { explore, withhold = 0 } = this.#bound.value
    const chances = [
      ...(episode?.drawn ? [episode.left ? withhold : 1 - withhold] : []),
      ...leave.filter(({ drawn }) => drawn).map(({ left }) => (left ? explore : 1 - explore)),
    ]
    if (chances.length === 0) return notByChance
    return { log: chances.reduce((sum, chance) => sum + Math.log(chance), 0) }
  }
}

/** Of an item that several archives have, the first. */
const oneOfEach = (found: readonly Found[]): readonly Found[] => [
  ...new Map(found.toReversed().map((one) => [one.item.id, one])).values(),
]

/** Whether something is left out of the episode, and whether that was drawn now. */
interface Draw {
  readonly left: boolean
  readonly drawn: boolean
}

const recollection = ({ id, type, cue, text, worked, trust }: MemoryItem): Recollection => ({
  id,
  type,
  cue,
  text,
  worked,
  trust,
})
