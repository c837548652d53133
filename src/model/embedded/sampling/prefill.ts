import { type KvRows, rowElements } from './kv.ts'
import type { LaneResources } from './lane-resources.ts'
import { type Match, pathTo } from './prefix-tree.ts'
import type { Sequence } from './sequence.ts'
import type { StepResult } from './step.ts'
import type { WeightSet } from './weight-sets.ts'

/** At most so many new tokens in one run: a long prompt must not hold up the sequences that decode. */
const tokensPerRun = 512

/** Deterministic mode computes prompts in blocks of this many tokens from position 0, each always in the same shape. */
const block = 32

/** A part of a prompt to compute: `tokens[start … end)`, with the cached place where it attaches. */
export interface Chunk {
  readonly sequence: Sequence
  readonly prefix: Match
  readonly start: number
  readonly end: number
}

/** Extends the prefix tree by what waiting sequences need next. */
export class Prefill {
  readonly #adapter: string | null
  readonly #weights: WeightSet
  readonly #shared: LaneResources

  constructor(adapter: string | null, weights: WeightSet, shared: LaneResources) {
    this.#adapter = adapter
    this.#weights = weights
    this.#shared = shared
  }

  /** One run over chunks of as many waiting prompts as fit; false when none of them lacks anything. */
  async run(waiting: Iterable<Sequence>): Promise<boolean> {
    const chunks = this.#select(waiting)
    if (chunks.length === 0) return false
    const past = Math.max(...chunks.map(({ start }) => start))
    const width = this.#shared.deterministic ? block : Math.max(...chunks.map(({ start, end }) => end - start))
    this.#shared.past.clear()
    this.#shared.past.grow(chunks.length, past, 0)
    chunks.forEach((chunk, index) => this.#loadPast(chunk, index))
    const spans = chunks.map(({ sequence, start, end }) => ({ tokens: sequence.tokens, start, count: end - start }))
    const result = await this.#shared.runner.run({ weights: this.#weights, spans, width, past: this.#shared.past })
    chunks.forEach((chunk, index) => this.#store(chunk, index, result, width))
    this.#shared.tree.trim()
    return true
  }

  #select(waiting: Iterable<Sequence>): readonly Chunk[] {
    const chunks: Chunk[] = []
    const [oldest] = waiting
    let tokens = 0
    for (const sequence of waiting) {
      const chunk = this.#next(sequence)
      if (chunk.end === chunk.start) continue
      const count = chunk.end - chunk.start
      if (chunks.length > 0 && (tokens + count > tokensPerRun || !this.#fits(chunk, chunks))) continue
      // The oldest goes on whatever memory says, or nothing would.
      const pinned = this.#shared.tree.pinned + (tokens + count) * rowElements(this.#shared.shape)
      if (sequence !== oldest && pinned > this.#shared.memory.forPrompts) continue
      if (chunks.some((other) => sharesMost(chunk, other))) continue
      chunks.push(chunk)
      tokens += count
    }
    return chunks
  }

  #next(sequence: Sequence): Chunk {
    const prefix = this.#shared.tree.match(this.#adapter, sequence.tokens, sequence.position)
    if (prefix.length === sequence.position) return { sequence, prefix, start: prefix.length, end: prefix.length }
    const start = this.#shared.deterministic ? Math.floor(prefix.length / block) * block : prefix.length
    const longest = this.#shared.deterministic ? block : tokensPerRun
    return { sequence, prefix, start, end: Math.min(sequence.position, start + longest) }
  }

  /** Chunks of one run share a grid: their padding must not cost more than they do. Deterministic: none at all. */
  #fits(chunk: Chunk, chunks: readonly Chunk[]): boolean {
    if (this.#shared.deterministic) return chunk.start === chunks[0]?.start
    const all = [...chunks, chunk]
    const past = Math.max(...all.map(({ start }) => start))
    if (all.length * past * rowElements(this.#shared.shape) > this.#shared.memory.forPrompts) return false
    const width = Math.max(...all.map(({ start, end }) => end - start))
    const columns = Math.max(...all.map(({ end }) => end))
    const own = all.reduce((sum, { start, end }) => sum + (end - start) * end, 0)
    return all.length * width * columns <= 4 * own + 2 ** 16
  }

  #loadPast({ prefix, start }: Chunk, index: number): void {
    let position = 0
    for (const { segment, count } of pathTo(prefix)) {
      const needed = Math.min(count, start - position)
      if (needed > 0) this.#shared.past.load(index, position, segment.rows, needed)
      position += count
    }
  }

  #store({ sequence, start, end }: Chunk, index: number, result: StepResult, width: number): void {
    const rows = (from: number) => this.#rows(result, index, width, from - start, end - start)
    const place = this.#shared.tree.insert(this.#adapter, sequence.tokens, end, rows)
    this.#shared.tree.pin(place.segment)
    if (sequence.pinned) this.#shared.tree.unpin(sequence.pinned)
    sequence.pinned = place.segment
  }

  /** New rows `from` … `to` − 1 of one sequence of the run. */
  #rows(result: StepResult, sequence: number, width: number, from: number, to: number): KvRows {
    const { layers, kvHeads, headDim } = this.#shared.shape
    const elements = new Float32Array((to - from) * rowElements(this.#shared.shape))
    let target = 0
    for (let layer = 0; layer < layers; layer++) {
      for (const kind of ['key', 'value'] as const) {
        const plane = result.newRows(layer, kind)
        for (let head = 0; head < kvHeads; head++) {
          const run = (sequence * kvHeads + head) * width * headDim
          elements.set(plane.subarray(run + from * headDim, run + to * headDim), target)
          target += (to - from) * headDim
        }
      }
    }
    return { elements, count: to - from }
  }
}

/**
 * Whether most of a chunk is the beginning of another one of the same run: then it waits, and finds it cached. What
 * begins at the same place of the tree and differs early is computed at once.
 */
export function sharesMost(chunk: Chunk, other: Chunk): boolean {
  if (chunk.start !== other.start || chunk.prefix.segment !== other.prefix.segment) return false
  const count = Math.min(chunk.end, other.end) - chunk.start
  let shared = 0
  while (shared < count && chunk.sequence.tokens[chunk.start + shared] === other.sequence.tokens[chunk.start + shared])
    shared++
  return shared * 2 >= chunk.end - chunk.start
}
