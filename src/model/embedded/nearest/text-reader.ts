import { smallestFloat } from '../sampling/choose.ts'
import type { LaneResources } from '../sampling/lane-resources.ts'
import { KvGrid } from '../sampling/kv.ts'
import type { WeightSets } from '../sampling/weight-sets.ts'
import type { Neighbours } from './mixture.ts'

/** What is wanted of a text besides its log-probabilities. */
export interface ReadWants {
  /** Whether the states are: the keys of a datastore. */
  readonly states: boolean
  /** The nearest entries of a datastore that is loaded, so many for each token; `null`: none. */
  readonly neighbours: { readonly datastore: string; readonly count: number } | null
}

/** A part of a text to read, after the parts before it. */
export interface ReadRequest extends ReadWants {
  /** Names the text: its keys and values are kept between its parts. */
  readonly reading: number
  readonly adapter: string | null
  /** The whole text. */
  readonly tokens: Int32Array
  /** The part: each of `tokens[start … end)` is read, and the one after it is scored. `end` < `tokens.length`. */
  readonly start: number
  readonly end: number
}

/** What was read of a part; the arrays have one entry, or row, for each token that was scored. */
export interface ReadChunk {
  /** Log-probability of the next token, at temperature 1: at least −103.3, the least that float32 can tell. */
  readonly logprobs: Float64Array
  /** `[scored, hiddenSize]`; empty where they were not wanted. */
  readonly states: Float32Array
  readonly neighbours: readonly Neighbours[]
}

/** Reads given texts with the weights of a shard, part by part, so that jobs go on in between. */
export class TextReader {
  readonly #weights: WeightSets
  readonly #shared: LaneResources
  readonly #pasts = new Map<number, KvGrid>()

  constructor(weights: WeightSets, shared: LaneResources) {
    this.#weights = weights
    this.#shared = shared
  }

  async read({ reading, adapter, tokens, start, end, states, neighbours }: ReadRequest): Promise<ReadChunk> {
    const { shape, runner, mixer } = this.#shared
    const past = this.#pasts.get(reading) ?? new KvGrid(shape)
    this.#pasts.set(reading, past)
    const width = end - start
    past.grow(1, end, start > 0 ? 1 : 0)
    const spans = [{ tokens, start, count: width }]
    const result = await runner.run({
      weights: this.#weights.get(adapter),
      spans,
      width,
      past,
      temperatures: new Float32Array(width).fill(1),
      rows: Array.from({ length: width }, (_, row) => row),
      states: states || neighbours !== null,
    })
    for (let layer = 0; layer < shape.layers; layer++) {
      past.append(layer, 'key', result.newRows(layer, 'key'), spans, width)
      past.append(layer, 'value', result.newRows(layer, 'value'), spans, width)
    }
    if (end + 1 >= tokens.length) this.end(reading)
    const size = result.probabilities.length / result.corrections.length
    const logprobs = Float64Array.from({ length: width }, (_, row) => {
      const probability = result.probabilities[row * size + (tokens[start + row + 1] as number)] as number
      return Math.log(Math.max(probability, smallestFloat))
    })
    const found = result.states.slice(0, width * (result.states.length / result.corrections.length))
    return {
      logprobs,
      states: states ? found : new Float32Array(0),
      neighbours: neighbours
        ? await mixer.get(neighbours.datastore).search(found, Array<number>(width).fill(neighbours.count))
        : [],
    }
  }

  /** Forgets a text. */
  end(reading: number): void {
    this.#pasts.delete(reading)
  }
}
