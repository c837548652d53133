import { DecodeBatch, type Ended, type LengthClass } from './decode-batch.ts'
import type { LaneResources } from './lane-resources.ts'
import { type Chunk, Prefill, sharesMost } from './prefill.ts'
import type { Sequence } from './sequence.ts'
import type { WeightSet } from './weight-sets.ts'

/** Largest grid, in cells, of a step that also computes what joining sequences lack. */
const joinCells = 128

/**
 * The sequences that sample from one set of weights. A sequence waits until the keys and values of its tokens are in the
 * prefix tree, but for the last token and what a decoding step computes on the way; then it decodes. Its rows go back to
 * the tree when it ends, for the next turn.
 */
export class Lane {
  readonly adapter: string | null
  readonly #weights: WeightSet
  readonly #shared: LaneResources
  readonly #prefill: Prefill
  readonly #waiting = new Set<Sequence>()
  readonly #batches = new Map<number, DecodeBatch>()
  #prefilledLast = false
  #deferred = false

  constructor(adapter: string | null, weights: WeightSet, shared: LaneResources) {
    this.adapter = adapter
    this.#weights = weights
    this.#shared = shared
    this.#prefill = new Prefill(adapter, weights, shared)
  }

  /** Gives the decoding memory back; the lane must be idle. */
  close(): void {
    for (const batch of this.#batches.values()) this.#shared.memory.delete(batch)
  }

  get idle(): boolean {
    return this.#waiting.size === 0 && this.#decoding === 0
  }

  enqueue(sequence: Sequence): void {
    this.#waiting.add(sequence)
  }

  /** Takes a sequence out, wherever it is. */
  remove(sequence: Sequence): void {
    this.#unpin(sequence)
    if (this.#waiting.delete(sequence)) return
    for (const batch of this.#batches.values()) {
      if (batch.sequences.includes(sequence)) batch.remove(sequence)
    }
  }

  /**
   * One run of the model, or one for each length class: extends waiting prompts, or samples a token for every decoding
   * sequence. Prompts come first, since a fuller batch decodes more cheaply, but decoding gets every other turn while
   * most sequences decode.
   */
  async tick(): Promise<readonly Ended[]> {
    // Those that join may compute what others wait for; but a stream of them must not keep long prompts waiting.
    this.#deferred = this.#admit() > 0 && !this.#deferred
    const due = this.#waiting.size > 0 && (this.#decoding <= this.#waiting.size || !this.#prefilledLast)
    this.#prefilledLast = due && !this.#deferred && (await this.#prefill.run(this.#waiting))
    return this.#prefilledLast ? [] : this.#decode()
  }

  /**
   * Moves waiting sequences to the decoding ones, as memory allows: those whose prefix is cached, and those that lack so
   * little that their batch computes it on the way. Returns how many of the latter.
   */
  #admit(): number {
    const { tree, memory } = this.#shared
    const joining: Chunk[] = []
    for (const sequence of this.#waiting) {
      const prefix = tree.match(this.adapter, sequence.tokens, sequence.position)
      const chunk = { sequence, prefix, start: prefix.length, end: sequence.position }
      const batch = this.#batchFor(sequence)
      if (chunk.start < chunk.end && !this.#canJoin(chunk, batch, joining)) continue
      // Those behind do not overtake: a long sequence would wait for ever.
      if (!memory.allows(batch, batch.reservedWith(sequence))) break
      batch.add(sequence, prefix)
      this.#waiting.delete(sequence)
      this.#unpin(sequence)
      if (chunk.start < chunk.end) joining.push(chunk)
    }
    return joining.length
  }

  /** Whether a batch computes a missing part more cheaply than a run of its own would: every sequence is padded to it. */
  #canJoin(chunk: Chunk, batch: DecodeBatch, joining: readonly Chunk[]): boolean {
    if (this.#shared.deterministic || joining.some((other) => sharesMost(chunk, other))) return false
    const widest = [chunk, ...joining].reduce((most, { start, end }) => Math.max(most, end - start + 1), 0)
    return (batch.sequences.length + 1) * widest <= joinCells
  }

  async #decode(): Promise<readonly Ended[]> {
    const { runner, chooser, mixer } = this.#shared
    const all: Ended[] = []
    for (const batch of this.#batches.values()) {
      if (batch.sequences.length === 0) continue
      const joined = batch.sequences.filter(({ cached, position }) => cached < position)
      const ended = await batch.step(this.#weights, runner, chooser, mixer)
      for (const sequence of joined) this.#keep(sequence, batch)
      for (const { sequence } of ended) this.#retire(sequence, batch)
      const outgrown = batch.sequences.filter(({ position }) => position + 1 > batch.lengths.ceiling)
      for (const sequence of outgrown) this.#moveUp(sequence, batch)
      all.push(...ended)
    }
    this.#shared.tree.trim()
    return all
  }

  #retire(sequence: Sequence, batch: DecodeBatch): void {
    // Rows of sampled tokens come from other shapes of run than a prompt's: in deterministic mode they are not reused.
    if (!this.#shared.deterministic) this.#keep(sequence, batch)
    batch.remove(sequence)
  }

  /** Puts a sequence's rows into the prefix tree. */
  #keep(sequence: Sequence, batch: DecodeBatch): void {
    const rows = (from: number) => batch.rows(sequence, from)
    this.#shared.tree.insert(this.adapter, sequence.tokens, sequence.cached, rows)
  }

  #moveUp(sequence: Sequence, from: DecodeBatch): void {
    this.#batchFor(sequence).adopt(sequence, from)
    from.remove(sequence)
  }

  #batchFor(sequence: Sequence): DecodeBatch {
    const lengths = lengthClass(sequence.position + 1, this.#shared.deterministic)
    const known = this.#batches.get(lengths.ceiling)
    if (known) return known
    const batch = new DecodeBatch(this.#shared.shape, lengths)
    this.#batches.set(lengths.ceiling, batch)
    this.#shared.memory.add(batch)
    return batch
  }

  #unpin(sequence: Sequence): void {
    if (sequence.pinned) this.#shared.tree.unpin(sequence.pinned)
    sequence.pinned = null
  }

  get #decoding(): number {
    let count = 0
    for (const { sequences } of this.#batches.values()) count += sequences.length
    return count
  }
}

/**
 * The class of a sequence of `length` cached tokens. Classes are wide, so that most sequences decode together; in
 * deterministic mode they are narrow, since all their columns are read.
 */
function lengthClass(length: number, deterministic: boolean): LengthClass {
  if (deterministic) return { ceiling: Math.ceil(length / 64) * 64, fixed: true }
  let ceiling = 256
  while (ceiling < length) ceiling *= 4
  return { ceiling, fixed: false }
}
