import type { TransformerConfig } from '../transformer/config.ts'

/** The shape of a model's keys and values. One row, the keys and values of one token, has `layers · 2 · kvHeads · headDim` elements. */
export type KvShape = Pick<TransformerConfig, 'layers' | 'kvHeads' | 'headDim'>

/** Elements of one token's keys and values. */
export function rowElements({ layers, kvHeads, headDim }: KvShape): number {
  return layers * 2 * kvHeads * headDim
}

/** Keys and values of `count` consecutive tokens: `[layers, 2, kvHeads, count, headDim]`. */
export interface KvRows {
  readonly elements: Float32Array
  readonly count: number
}

/** Consecutive rows of a sequence. */
export interface RowSpan {
  readonly start: number
  readonly count: number
}

/**
 * Keys and values of several sequences, as attention reads them: for each layer an array `[sequences, kvHeads,
 * capacity, headDim]` of keys and one of values. Sequences 0 … n − 1 are a prefix of each array, which a run reads
 * without copying. Places past a sequence's length hold finite leftovers; the mask hides them.
 */
export class KvGrid {
  readonly shape: KvShape
  /** Tokens a sequence has room for. */
  capacity = 0
  readonly #planes: Float32Array[]

  constructor(shape: KvShape) {
    this.shape = shape
    this.#planes = Array.from({ length: shape.layers * 2 }, () => new Float32Array(0))
  }

  /** Elements allocated. */
  get elements(): number {
    return this.#planes.length * this.#plane(0).length
  }

  /** Forgets every sequence and gives the memory back. */
  release(): void {
    this.clear()
    for (let index = 0; index < this.#planes.length; index++) this.#planes[index] = new Float32Array(0)
  }

  /** Forgets every sequence; the memory stays for the next ones. */
  clear(): void {
    this.capacity = 0
  }

  /** Makes room for `sequences` of `capacity` tokens; the first `kept` sequences stay as they are. */
  grow(sequences: number, capacity: number, kept: number): void {
    const { kvHeads, headDim } = this.shape
    const from = this.capacity * headDim
    const to = capacity * headDim
    const needed = sequences * kvHeads * to
    this.#planes.forEach((plane, index) => {
      if (plane.length >= needed && from === to) return
      const grown = plane.length >= needed ? plane : new Float32Array(needed)
      // Last run first: where a run moves within its array, it moves up.
      for (let run = kept * kvHeads - 1; run >= 0; run--) {
        if (grown === plane) plane.copyWithin(run * to, run * from, (run + 1) * from)
        else grown.set(plane.subarray(run * from, (run + 1) * from), run * to)
      }
      this.#planes[index] = grown
    })
    this.capacity = capacity
  }

  /** The first `sequences` sequences' keys (or values) of a layer. */
  plane(layer: number, kind: 'key' | 'value', sequences: number): Float32Array {
    return this.#plane(layer * 2 + (kind === 'key' ? 0 : 1)).subarray(0, sequences * this.#stride)
  }

  /** Writes the first `count` of `rows` into a sequence, from `position` on. */
  load(sequence: number, position: number, rows: KvRows, count = rows.count): void {
    const { headDim, kvHeads } = this.shape
    const run = rows.count * headDim
    let from = 0
    for (let index = 0; index < this.#planes.length; index++) {
      const plane = this.#plane(index)
      for (let head = 0; head < kvHeads; head++) {
        const to = sequence * this.#stride + (head * this.capacity + position) * headDim
        plane.set(rows.elements.subarray(from, from + count * headDim), to)
        from += run
      }
    }
  }

  /** A copy of a sequence's rows `from` … `to` − 1. */
  save(sequence: number, from: number, to: number): KvRows {
    const { headDim, kvHeads } = this.shape
    const run = (to - from) * headDim
    const elements = new Float32Array((to - from) * rowElements(this.shape))
    let target = 0
    for (let index = 0; index < this.#planes.length; index++) {
      const plane = this.#plane(index)
      for (let head = 0; head < kvHeads; head++) {
        const source = sequence * this.#stride + (head * this.capacity + from) * headDim
        elements.set(plane.subarray(source, source + run), target)
        target += run
      }
    }
    return { elements, count: to - from }
  }

  /** Copies a whole sequence over another. */
  move(from: number, to: number): void {
    for (const plane of this.#planes) {
      plane.copyWithin(to * this.#stride, from * this.#stride, (from + 1) * this.#stride)
    }
  }

  /** Writes the new rows of each sequence: `rows` is `[sequences, kvHeads, width, headDim]`, spans say where they go. */
  append(layer: number, kind: 'key' | 'value', rows: Float32Array, spans: readonly RowSpan[], width: number): void {
    const { headDim, kvHeads } = this.shape
    const plane = this.#plane(layer * 2 + (kind === 'key' ? 0 : 1))
    for (let sequence = 0; sequence < spans.length; sequence++) {
      const { start, count } = spans[sequence] as RowSpan
      for (let head = 0; head < kvHeads; head++) {
        const from = (sequence * kvHeads + head) * width * headDim
        const to = sequence * this.#stride + (head * this.capacity + start) * headDim
        for (let element = 0; element < count * headDim; element++) plane[to + element] = rows[from + element] as number
      }
    }
  }

  /** Elements of one sequence in one plane. */
  get #stride(): number {
    return this.shape.kvHeads * this.capacity * this.shape.headDim
  }

  #plane(index: number): Float32Array {
    return this.#planes[index] as Float32Array
  }
}
