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
import { Bank } from './bank.ts'
import { clipped } from './clipped.ts'
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
  readonly #audience: Audience
  /** A query that comes again gets what it got: a session's prompt stays as it is, and so do providers' caches of it. */
  readonly #asked = new Map<string, Promise<{ items: readonly Recollection[]; messages: readonly Message[] }>>()
  /** Whether an item is left out of this episode; one draw each. */
  readonly #leftOut = new Map<string, boolean>()

  constructor(bound: Bound<MemoryValue>, recorder: DecisionRecorder<MemoryMade>, embedder: Embedder) {
    this.#bound = bound
    this.#recorder = recorder
    this.#embedder = embedder
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
    const best = value.items.length === 0 ? [] : await this.#best(query)
    const leave = best.map(({ item }) => this.#leaves(item.id))
    const items: RecalledItem[] = best.map(({ item, similarity, score }, i) => ({
      id: item.id,
      similarity,
      score,
      shown: !leave[i]?.left,
    }))
    const made = { did: 'recall', query: clipped(query, memoryBounds.cueBytes), items, explore: value.explore } as const
    this.#recorder.decide({ made, propensity: this.#propensity(leave) })
    const shown = best.filter((_, i) => !leave[i]?.left).map(({ item }) => recollection(item))
    return { items: shown, messages: shown.length === 0 ? [] : [remembered(shown)] }
  }

  async #best(query: string) {
    const { value } = this.#bound
    const [vector] = await embedded(this.#embedder, [query])
    if (!vector) return []
    const bank = await Bank.of(value, this.#embedder)
    const count = Math.max(fewest, lookedAt * value.recall)
    return ranked(bank.near(vector, count, value.floor, this.#audience), value.recall, value.selector)
  }

  #leaves(id: string): { readonly left: boolean; readonly drawn: boolean } {
    const before = this.#leftOut.get(id)
    if (before !== undefined) return { left: before, drawn: false }
    const left = this.#bound.value.explore > 0 && this.#bound.rng.next() < this.#bound.value.explore
    this.#leftOut.set(id, left)
    return { left, drawn: true }
  }

  /** Exact: each draw is independent of the others, and one of before has no chance left. */
  #propensity(leave: readonly { readonly left: boolean; readonly drawn: boolean }[]): Propensity {
    const { explore } = this.#bound.value
    const drawn = leave.filter((one) => one.drawn)
    if (explore === 0 || drawn.length === 0) return notByChance
    return { log: drawn.reduce((sum, { left }) => sum + Math.log(left ? explore : 1 - explore), 0) }
  }
}

const recollection = ({ id, type, cue, text, worked, trust }: MemoryItem): Recollection => ({
  id,
  type,
  cue,
  text,
  worked,
  trust,
})
