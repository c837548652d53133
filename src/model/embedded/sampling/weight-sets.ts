import { Tensor } from 'onnxruntime-node'
import { canonicalJson } from '../../../core/index.ts'
import { InvariantError, present } from '../../../errors/index.ts'
import { type Device, graphOptions } from '../device/device.ts'
import { expectExactBytes } from '../device/exact-bytes.ts'
import { type Session, openSession } from '../device/session.ts'
import { type BaseWeights, bytesOfWeights } from '../transformer/base-weights.ts'
import { type InferenceGraphSpec, inferenceGraph } from '../transformer/inference-graph.ts'
import type { MemoryRows } from '../memory/attention-memory.ts'
import { type MemoryAdapter, queriesOf } from '../memory/memory-adapter.ts'
import { gateFeed, memoryFeeds } from '../memory/memory-feeds.ts'
import { type Operand, inferenceWeights, loraOperands, parts, promptOperand } from '../transformer/inference-weights.ts'
import type { AdapterContent } from '../train/adapter-content.ts'
import type { AdapterWeights } from '../train/lora.ts'
import type { SoftPrompt } from '../train/soft-prompt.ts'
import type { RoundedMatrix } from '../transformer/rounded-matrix.ts'
import { fingerprint } from '../transformer/fingerprint.ts'

/** Weights that steps can run with: a session, and the feeds that make it this set of weights. */
export interface WeightSet {
  readonly session: Session
  readonly feeds: Readonly<Record<string, Tensor>>
}

export interface WeightSetsOptions {
  readonly model: BaseWeights
  readonly contextLength: number
  /** ONNX Runtime threads inside one operator. */
  readonly threads: number
  /** Default `cpu`. */
  readonly device?: Device
}

/** Weights are stored in the session's model up to this size: a model file ends at 2 GB. */
const largestStored = 1.5e9

/** The base weights, and the adapters loaded over them. */
export class WeightSets {
  readonly #options: WeightSetsOptions
  readonly #base: WeightSet
  readonly #adapters = new Map<string, WeightSet>()
  /** A session whose weights are all fed: serves models of any size and every fully trained set of weights. */
  #fed: Promise<Session> | undefined
  /** The base weights for sessions that do not store them. */
  #fedBase: Readonly<Record<string, Tensor>> | undefined
  /** Sessions that read a memory, by the layer that does and its neighbours. */
  readonly #recalling = new Map<string, Promise<Session>>()

  private constructor(options: WeightSetsOptions, base: WeightSet) {
    this.#options = options
    this.#base = base
  }

  static async open(options: WeightSetsOptions): Promise<WeightSets> {
    const { model, contextLength } = options
    if (model.rounded) await expectExactBytes()
    const weights = inferenceWeights(model)
    const empty = adapterTensors(options, {})
    const spec = { config: model.config, contextLength, rounded: model.rounded !== undefined }
    if (bytesOfWeights(model) < largestStored) {
      const session = await createSession({ ...spec, stored: weights }, options)
      return new WeightSets(options, { session, feeds: empty })
    }
    const session = createSession(spec, options)
    const fedBase = feedsOf(weights)
    const sets = new WeightSets(options, { session: await session, feeds: { ...fedBase, ...empty } })
    if (!spec.rounded) sets.#fed = session
    sets.#fedBase = fedBase
    return sets
  }

  /** The weights loaded under an id; `null` is the base. */
  get(id: string | null): WeightSet {
    return id === null ? this.#base : present(this.#adapters.get(id), `adapter ${id}`)
  }

  async load(id: string, content: AdapterContent): Promise<void> {
    if (this.#adapters.has(id)) throw new InvariantError(`adapter ${id} is loaded already`)
    const { config } = this.#options.model
    if (content.kind === 'memory') return this.#loadMemory(id, content.adapter, content.memory)
    if (content.kind === 'lora') return this.#loadOverBase(id, { lora: content.adapter })
    if (content.kind === 'prompt') return this.#loadOverBase(id, content)
    this.#fed ??= createSession({ config, contextLength: this.#options.contextLength }, this.#options)
    const feeds = { ...feedsOf(inferenceWeights(content.model)), ...adapterTensors(this.#options, {}) }
    this.#adapters.set(id, { session: await this.#fed, feeds })
  }

  #loadOverBase(id: string, own: OverBase): void {
    const { session, feeds } = this.#base
    this.#adapters.set(id, { session, feeds: { ...feeds, ...adapterTensors(this.#options, own) } })
  }

  /** An empty memory is none: then the base's graph runs. */
  async #loadMemory(id: string, adapter: MemoryAdapter, memory: MemoryRows | null): Promise<void> {
    const { model, contextLength } = this.#options
    const queries = queriesOf(model.config, adapter)
    if (memory === null || memory.length === 0) return this.#loadOverBase(id, { lora: queries })
    const { layer, neighbours } = adapter
    const key = `${layer} ${neighbours}`
    const spec = { config: model.config, contextLength, memory: { layer, neighbours } }
    const session = this.#recalling.get(key) ?? createSession(spec, this.#options)
    this.#recalling.set(key, session)
    this.#fedBase ??= feedsOf(inferenceWeights(model))
    const feeds = {
      ...this.#fedBase,
      ...adapterTensors(this.#options, { lora: queries }),
      ...memoryFeeds(model.config, memory),
      ...gateFeed(model.config, adapter),
    }
    this.#adapters.set(id, { session: await session, feeds })
  }

  /**
   * SHA-256 of the weights loaded under an id, in hexadecimal; `null` is the base, with its shape. Equal weights have equal
   * ones, on every machine and device. Reads all of them: a second for a gigabyte.
   */
  fingerprint(id: string | null): string {
    const { config, tensors, rounded = new Map<string, RoundedMatrix>() } = this.#options.model
    if (id === null) {
      const matrices = [...rounded].flatMap(([name, { elements, scales }]): [string, Float32Array | Int8Array][] => [
        [name, elements],
        [`scales of ${name}`, scales],
      ])
      return fingerprint(new Map([...tensors, ...matrices]), canonicalJson(config))
    }
    const base = this.#base.feeds
    const own = Object.entries(this.get(id).feeds)
      .filter(([name, tensor]) => base[name] !== tensor)
      .map(([name, { data }]) => [name, data as Float32Array] as const)
    // What is 0 changes nothing, and devices differ in what of it they are fed.
    return fingerprint(new Map(own.filter(([, values]) => values.some((value) => value !== 0))))
  }

  unload(id: string): void {
    this.#adapters.delete(id)
  }

  async close(): Promise<void> {
    const fed = await this.#fed
    for (const session of this.#recalling.values()) await (await session).release()
    await this.#base.session.release()
    if (fed && fed !== this.#base.session) await fed.release()
  }
}

function createSession(spec: InferenceGraphSpec, options: WeightSetsOptions): Promise<Session> {
  return openSession(inferenceGraph({ ...spec, ...graphOptions(options.device) }), options)
}

/** What an adapter has that is fed beside the base's own weights. */
interface OverBase {
  readonly lora?: AdapterWeights | null
  readonly prompt?: SoftPrompt
}

/** What an adapter feeds beside the weights; without any, what leaves the base as it is. */
function adapterTensors(
  { model, device = 'cpu' }: WeightSetsOptions,
  { lora, prompt }: OverBase,
): Record<string, Tensor> {
  const operands = loraOperands(model.config, lora ?? null)
  operands.set(parts.prompt, promptOperand(model.config, prompt ?? null))
  return feedsOf(device === 'cpu' ? operands : new Map([...operands].map(([name, operand]) => [name, filled(operand)])))
}

/** Other devices than the processor do not multiply by a matrix of rank 0; one of zeros comes to the same. */
function filled({ elements, shape }: Operand): Operand {
  if (elements.length > 0) return { elements, shape }
  const least = shape.map((size) => Math.max(1, size))
  return { elements: new Float32Array(least.reduce((product, size) => product * size, 1)), shape: least }
}

function feedsOf(operands: ReadonlyMap<string, Operand>): Record<string, Tensor> {
  const tensor = ({ elements, shape }: Operand) =>
    elements instanceof Int8Array ? new Tensor('int8', elements, shape) : new Tensor('float32', elements, shape)
  return Object.fromEntries([...operands].map(([name, operand]) => [name, tensor(operand)]))
}
