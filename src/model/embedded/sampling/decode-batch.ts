import type { SampleStopReason } from '../../../core/index.ts'
import type { Mixer } from '../nearest/mixer.ts'
import { type TokenChooser, graphTemperature } from './choose.ts'
import { KvGrid, type KvRows, type KvShape, rowElements } from './kv.ts'
import type { KvHolder } from './kv-memory.ts'
import { type Match, pathTo } from './prefix-tree.ts'
import type { Sequence } from './sequence.ts'
import type { StepRunner } from './step.ts'
import type { WeightSet } from './weight-sets.ts'

/** Lengths that decode together: a step reads as many cached columns for each sequence as the longest one needs. */
export interface LengthClass {
  /** Longest sequence, in cached tokens. */
  readonly ceiling: number
  /** Columns always read, whatever the sequences' lengths: then a result does not depend on who else is in the batch. */
  readonly fixed: boolean
}

/** A sequence that a step ended, and why. */
export interface Ended {
  readonly sequence: Sequence
  readonly reason: SampleStopReason | Failure
}

/** Why a sequence cannot go on. */
export interface Failure {
  readonly error: unknown
}

/** Columns grow by this many, so that the grid is seldom laid out anew. */
const columnStep = 32
/** And sequences' places by at most this many. */
const roomStep = 16

/** Sequences of one length class and one set of weights that decode in step: one token each at a time. */
export class DecodeBatch implements KvHolder {
  readonly lengths: LengthClass
  readonly sequences: Sequence[] = []
  readonly #grid: KvGrid
  #room = 0

  constructor(shape: KvShape, lengths: LengthClass) {
    this.lengths = lengths
    this.#grid = new KvGrid(shape)
  }

  get idle(): boolean {
    return this.sequences.length === 0
  }

  get held(): number {
    return this.#grid.elements
  }

  get reserved(): number {
    return this.#reservedFor(this.sequences)
  }

  /** What {@link reserved} would be with one more sequence. */
  reservedWith(sequence: Sequence): number {
    return this.#reservedFor([...this.sequences, sequence])
  }

  release(): void {
    this.#grid.release()
    this.#room = 0
  }

  /** Takes a sequence with the cached rows of its prefix; the next step computes the missing ones. */
  add(sequence: Sequence, prefix: Match): void {
    const index = this.#place(sequence)
    sequence.cached = 0
    for (const { segment, count } of pathTo(prefix)) {
      this.#grid.load(index, sequence.cached, segment.rows, count)
      sequence.cached += count
    }
  }

  /** Takes a sequence that outgrew another batch. */
  adopt(sequence: Sequence, from: DecodeBatch): void {
    const rows = from.rows(sequence, 0)
    this.#grid.load(this.#place(sequence), 0, rows)
  }

  /** A copy of a sequence's cached rows from a position on. */
  rows(sequence: Sequence, from: number): KvRows {
    return this.#grid.save(this.sequences.indexOf(sequence), from, sequence.cached)
  }

  /** Lets a sequence go; the last one takes its place. */
  remove(sequence: Sequence): void {
    const index = this.sequences.indexOf(sequence)
    const last = this.sequences.length - 1
    if (index < last) {
      this.#grid.move(last, index)
      this.sequences[index] = this.sequences[last] as Sequence
    }
    this.sequences.pop()
    if (this.sequences.length === 0) this.#grid.clear()
  }

  /** Samples one token for every sequence. Returns those that end with it; they stay until removed. */
  async step(weights: WeightSet, runner: StepRunner, chooser: TokenChooser, mixer: Mixer): Promise<readonly Ended[]> {
    this.#reserve()
    const spans = this.sequences.map(({ tokens, cached, length }) => ({
      tokens,
      start: cached,
      count: length - cached,
    }))
    const width = spans.reduce((most, { count }) => Math.max(most, count), 1)
    const temperatures = Float32Array.from(this.sequences, ({ job, matcher }) =>
      graphTemperature(job, matcher !== null || job.nearest !== undefined),
    )
    const mixing = this.sequences.flatMap(({ job: { nearest, temperature } }, row) =>
      nearest ? [{ row, nearest, temperature }] : [],
    )
    const states = mixing.length > 0
    const result = await runner.run({ weights, spans, width, past: this.#grid, temperatures, states })
    for (let layer = 0; layer < this.#grid.shape.layers; layer++) {
      this.#grid.append(layer, 'key', result.newRows(layer, 'key'), spans, width)
      this.#grid.append(layer, 'value', result.newRows(layer, 'value'), spans, width)
    }
    const mixed = await mixer.mix(mixing, result)
    const ended: Ended[] = []
    for (const [row, sequence] of this.sequences.entries()) {
      const { matcher } = sequence
      sequence.cached = sequence.length
      const correction = result.corrections[row] as number
      try {
        const allowed = matcher === null ? null : await matcher.allowed()
        chooser.choose(result.probabilities, row, correction, sequence.job, sequence.uniform, allowed)
        matcher?.accept(chooser.token)
      } catch (error) {
        ended.push({ sequence, reason: { error } })
        continue
      }
      chooser.logprob = mixed.get(row)?.logprob(chooser.token) ?? chooser.logprob
      const reason = sequence.append(chooser)
      if (reason !== null) ended.push({ sequence, reason })
    }
    return ended
  }

  #place(sequence: Sequence): number {
    const index = this.sequences.length
    this.sequences.push(sequence)
    this.#reserve()
    return index
  }

  /** Room for every sequence and its next row. */
  #reserve(): void {
    this.#room = this.#roomFor(this.sequences.length)
    const longest = this.sequences.reduce((most, { position }) => Math.max(most, position + 1), 0)
    this.#grid.grow(this.#room, Math.max(this.#columnsFor(longest), this.#grid.capacity), this.sequences.length)
  }

  #reservedFor(sequences: readonly Sequence[]): number {
    const longest = sequences.reduce((most, { longest }) => Math.max(most, longest), 0)
    const columns = Math.max(this.#columnsFor(Math.min(longest, this.lengths.ceiling)), this.#grid.capacity)
    return Math.max(this.held, this.#roomFor(sequences.length) * columns * rowElements(this.#grid.shape))
  }

  #roomFor(sequences: number): number {
    if (sequences <= this.#room) return this.#room
    return Math.max(sequences, Math.min(this.#room * 2, this.#room + roomStep))
  }

  #columnsFor(length: number): number {
    const { ceiling, fixed } = this.lengths
    return fixed ? ceiling : Math.min(ceiling, Math.ceil(length / columnStep) * columnStep)
  }
}
