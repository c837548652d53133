import { Tensor } from 'onnxruntime-node'
import { ports } from '../transformer/ports.ts'
import type { RowSpan } from './kv.ts'

/** The new tokens of one sequence in a step: `tokens[start … start + count)`, after `start` cached ones. */
export interface StepSpan extends RowSpan {
  readonly tokens: Int32Array
}

export interface StepShape {
  /** Columns of the grid of new tokens, at least the longest span. */
  readonly width: number
  /** Columns of the cached keys and values, at least the longest start. */
  readonly past: number
  /**
   * Repeat a lone token: the kernels have a routine of their own for single rows, whose sums differ in the last bit, and
   * in deterministic mode a token must not notice how many others are beside it.
   */
  readonly avoidSingleRow: boolean
}

/** An int64 vector that is written through its low words: no BigInt is made for an element. */
class Indices {
  #wide = new BigInt64Array(0)
  #words = new Int32Array(0)

  reserve(length: number): Int32Array {
    if (this.#wide.length < length) {
      this.#wide = new BigInt64Array(length * 2)
      this.#words = new Int32Array(this.#wide.buffer)
    }
    return this.#words
  }

  tensor(dims: readonly number[]): Tensor {
    const length = dims.reduce((product, size) => product * size, 1)
    return new Tensor('int64', this.#wide.subarray(0, length), dims)
  }
}

/** Lays the new tokens of a step out for the inference graph; buffers are kept from step to step. */
export class StepInputs {
  readonly #tokens = new Indices()
  readonly #positions = new Indices()
  readonly #pad = new Indices()
  readonly #unpad = new Indices()
  #mask = new Float32Array(0)

  /** The feeds that say what the tokens are and who sees whom. Packed token i of the spans is row i of the step. */
  feeds(spans: readonly StepSpan[], { width, past, avoidSingleRow }: StepShape): Record<string, Tensor> {
    const total = spans.reduce((sum, { count }) => sum + count, 0)
    const packed = avoidSingleRow ? Math.max(total, 2) : total
    const tokens = this.#tokens.reserve(packed)
    const positions = this.#positions.reserve(packed)
    const pad = this.#pad.reserve(spans.length * width)
    const unpad = this.#unpad.reserve(packed)
    let row = 0
    for (let sequence = 0; sequence < spans.length; sequence++) {
      const { tokens: source, start, count } = spans[sequence] as StepSpan
      for (let column = 0; column < width; column++) {
        const cell = sequence * width + column
        // A cell without a token repeats the sequence's last one; nobody reads it.
        pad[2 * cell] = row + Math.min(column, count - 1)
        if (column >= count) continue
        tokens[2 * (row + column)] = source[start + column] as number
        positions[2 * (row + column)] = start + column
        unpad[2 * (row + column)] = cell
      }
      row += count
    }
    for (; row < packed; row++) {
      for (const words of [tokens, positions, unpad]) words[2 * row] = words[2 * (row - 1)] as number
    }
    return {
      [ports.tokens]: this.#tokens.tensor([packed]),
      [ports.positions]: this.#positions.tensor([packed, 1]),
      [ports.pad]: this.#pad.tensor([spans.length, width]),
      [ports.unpad]: this.#unpad.tensor([packed]),
      [ports.mask]: this.#visibility(spans, width, past),
      [ports.spans]: new Tensor('int64', BigInt64Array.of(BigInt(past), BigInt(width)), [2]),
    }
  }

  /** 0 where a new token sees a column, −∞ where it does not: its own past, and the new tokens up to itself. */
  #visibility(spans: readonly StepSpan[], width: number, past: number): Tensor {
    const columns = past + width
    const size = spans.length * width * columns
    if (this.#mask.length < size) this.#mask = new Float32Array(size * 2)
    const mask = this.#mask
    let row = 0
    for (const { start } of spans) {
      for (let column = 0; column < width; column++) {
        mask.fill(0, row, row + start)
        mask.fill(Number.NEGATIVE_INFINITY, row + start, row + past)
        mask.fill(0, row + past, row + past + column + 1)
        mask.fill(Number.NEGATIVE_INFINITY, row + past + column + 1, row + columns)
        row += columns
      }
    }
    return new Tensor('float32', mask.subarray(0, size), [spans.length, 1, width, columns])
  }
}
