import { type InferenceSession, Tensor } from 'onnxruntime-node'
import { present } from '../../../errors/index.ts'
import { ports } from '../llama/inference-graph.ts'
import type { KvGrid } from './kv.ts'
import { StepInputs, type StepSpan } from './step-inputs.ts'
import type { WeightSet } from './weight-sets.ts'

/** One run of the inference graph. Sequence i of the grid is the past of span i. */
export interface Step {
  readonly weights: WeightSet
  readonly spans: readonly StepSpan[]
  /** Columns of the grid of new tokens. */
  readonly width: number
  readonly past: KvGrid
  /** One for each span, to get the distribution after its only token; absent when only keys and values are wanted. */
  readonly temperatures?: Float32Array
}

/** What a step computed: the cache rows of the new tokens, `[sequences, kvHeads, width, headDim]` for each layer. */
export interface StepResult {
  newRows(layer: number, kind: 'key' | 'value'): Float32Array
  /** Softmax rows; empty without temperatures. */
  readonly probabilities: Float32Array
  /** See `TokenChooser.choose`. */
  readonly corrections: Float32Array
}

/** Runs steps; keeps the buffers that they are laid out in. */
export class StepRunner {
  readonly #inputs = new StepInputs()
  readonly #deterministic: boolean

  constructor({ deterministic }: { readonly deterministic: boolean }) {
    this.#deterministic = deterministic
  }

  async run({ weights, spans, width, past, temperatures }: Step): Promise<StepResult> {
    const { layers, kvHeads, headDim } = past.shape
    const feeds: Record<string, Tensor> = {
      ...weights.feeds,
      ...this.#inputs.feeds(spans, { width, past: past.capacity, avoidSingleRow: this.#deterministic }),
      ...distributionFeeds(temperatures, this.#deterministic),
    }
    const fetches: string[] = temperatures ? [ports.probabilities, ports.correction] : []
    const dims = [spans.length, kvHeads, past.capacity, headDim]
    for (let layer = 0; layer < layers; layer++) {
      feeds[ports.pastKey(layer)] = new Tensor('float32', past.plane(layer, 'key', spans.length), dims)
      feeds[ports.pastValue(layer)] = new Tensor('float32', past.plane(layer, 'value', spans.length), dims)
      fetches.push(ports.newKey(layer), ports.newValue(layer))
    }
    const outputs = await weights.session.run(feeds, fetches)
    return {
      newRows: (layer, kind) => floats(outputs, kind === 'key' ? ports.newKey(layer) : ports.newValue(layer)),
      probabilities: temperatures ? floats(outputs, ports.probabilities) : new Float32Array(0),
      corrections: temperatures ? floats(outputs, ports.correction) : new Float32Array(0),
    }
  }
}

/** Asks for the distribution after every token, or after none. A lone row is repeated, as {@link StepInputs} does. */
function distributionFeeds(temperatures: Float32Array | undefined, avoidSingleRow: boolean): Record<string, Tensor> {
  const [first] = temperatures ?? []
  const wanted =
    avoidSingleRow && temperatures?.length === 1 ? Float32Array.of(first as number, first as number) : temperatures
  const count = wanted?.length ?? 0
  return {
    [ports.rows]: new Tensor(
      'int64',
      BigInt64Array.from({ length: count }, (_, row) => BigInt(row)),
      [count],
    ),
    [ports.temperature]: new Tensor('float32', wanted ?? new Float32Array(0), [count, 1]),
  }
}

function floats(outputs: InferenceSession.OnnxValueMapType, name: string): Float32Array {
  return present(outputs[name], name).data as Float32Array
}
