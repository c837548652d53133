import { type InferenceSession, Tensor } from 'onnxruntime-node'
import { present } from '../../../errors/index.ts'
import type { Device } from '../device/device.ts'
import { ports } from '../transformer/ports.ts'
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
  /** One for each span, to get the distribution after its last token; absent when only keys and values are wanted. */
  readonly temperatures?: Float32Array
  /** After which new tokens, packed, the distributions are wanted. Default: the last of each span. One for each temperature. */
  readonly rows?: readonly number[]
  /** Whether the states of these rows are wanted too. Default false. */
  readonly states?: boolean
}

/** What a step computed: the cache rows of the new tokens, `[sequences, kvHeads, width, headDim]` for each layer. */
export interface StepResult {
  newRows(layer: number, kind: 'key' | 'value'): Float32Array
  /** Softmax rows; empty without temperatures. */
  readonly probabilities: Float32Array
  /** See `TokenChooser.choose`. */
  readonly corrections: Float32Array
  /** `[rows, hiddenSize]`: see `inferenceGraph`. Empty where they were not wanted. */
  readonly states: Float32Array
}

/** Runs steps; keeps the buffers that they are laid out in. */
export class StepRunner {
  readonly #inputs = new StepInputs()
  readonly #deterministic: boolean
  readonly #device: Device
  /** Where only keys and values are wanted: WebGPU does not take no row, so one that nobody reads. */
  readonly #unread: Float32Array

  constructor({ deterministic, device = 'cpu' }: { readonly deterministic: boolean; readonly device?: Device }) {
    this.#deterministic = deterministic
    this.#device = device
    this.#unread = Float32Array.from(device === 'webgpu' ? [1] : [])
  }

  async run({
    weights,
    spans,
    width,
    past,
    temperatures,
    rows = lastRows(spans),
    states = false,
  }: Step): Promise<StepResult> {
    const { layers, kvHeads, headDim } = past.shape
    // Other devices than the processor do not multiply by an empty past: theirs begins with a column that is masked.
    const columns = this.#device === 'cpu' ? past.capacity : Math.max(1, past.capacity)
    const feeds: Record<string, Tensor> = {
      ...weights.feeds,
      ...this.#inputs.feeds(spans, { width, past: columns, avoidSingleRow: this.#deterministic }),
      ...distributionFeeds(rows, temperatures ?? this.#unread, this.#deterministic),
    }
    const fetches: string[] = temperatures ? [ports.probabilities, ports.correction] : []
    if (states) fetches.push(ports.states)
    const dims = [spans.length, kvHeads, columns, headDim]
    const empty = new Float32Array(past.capacity < columns ? spans.length * kvHeads * headDim : 0)
    const pastOf = (layer: number, kind: 'key' | 'value') => {
      return new Tensor('float32', past.capacity < columns ? empty : past.plane(layer, kind, spans.length), dims)
    }
    for (let layer = 0; layer < layers; layer++) {
      feeds[ports.pastKey(layer)] = pastOf(layer, 'key')
      feeds[ports.pastValue(layer)] = pastOf(layer, 'value')
      fetches.push(ports.newKey(layer), ports.newValue(layer))
    }
    const outputs = await weights.session.run(feeds, fetches)
    return {
      newRows: (layer, kind) => floats(outputs, kind === 'key' ? ports.newKey(layer) : ports.newValue(layer)),
      probabilities: temperatures ? floats(outputs, ports.probabilities) : new Float32Array(0),
      corrections: temperatures ? floats(outputs, ports.correction) : new Float32Array(0),
      states: states ? floats(outputs, ports.states) : new Float32Array(0),
    }
  }
}

/** The last new token of each span, packed. */
function lastRows(spans: readonly StepSpan[]): readonly number[] {
  let packed = 0
  return spans.map(({ count }) => (packed += count) - 1)
}

/** Asks for the distributions after these rows, as many as there are temperatures. A lone row is repeated, as in the step's inputs. */
function distributionFeeds(
  rows: readonly number[],
  temperatures: Float32Array,
  avoidSingleRow: boolean,
): Record<string, Tensor> {
  const wanted = rows.slice(0, temperatures.length).map(BigInt)
  const [row] = wanted
  const repeat = avoidSingleRow && wanted.length === 1 && row !== undefined
  const fed = BigInt64Array.from(repeat ? [row, row] : wanted)
  const each = repeat ? Float32Array.of(...temperatures, ...temperatures) : temperatures
  return {
    [ports.rows]: new Tensor('int64', fed, [fed.length]),
    [ports.temperature]: new Tensor('float32', each, [fed.length, 1]),
  }
}

function floats(outputs: InferenceSession.OnnxValueMapType, name: string): Float32Array {
  return present(outputs[name], name).data as Float32Array
}
