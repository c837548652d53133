import { InferenceSession, Tensor } from 'onnxruntime-node'
import { InvariantError, present } from '../../../errors/index.ts'
import type { LlamaConfig, ModelWeights } from '../llama/config.ts'
import { type InferenceGraphSpec, inferenceGraph } from '../llama/inference-graph.ts'
import { type Operand, inferenceWeights, loraOperands } from '../llama/inference-weights.ts'
import type { AdapterContent } from '../train/adapter-content.ts'
import type { AdapterWeights } from '../train/lora.ts'

/** Weights that steps can run with: a session, and the feeds that make it this set of weights. */
export interface WeightSet {
  readonly session: InferenceSession
  readonly feeds: Readonly<Record<string, Tensor>>
}

export interface WeightSetsOptions {
  readonly model: ModelWeights
  readonly contextLength: number
  /** ONNX Runtime threads inside one operator. */
  readonly threads: number
}

/** Weights are stored in the session's model up to this size: a model file ends at 2 GB. */
const largestStored = 1.5e9

/** The base weights, and the adapters loaded over them. */
export class WeightSets {
  readonly #options: WeightSetsOptions
  readonly #base: WeightSet
  readonly #adapters = new Map<string, WeightSet>()
  /** A session whose weights are all fed: serves models of any size and every fully trained set of weights. */
  #fed: Promise<InferenceSession> | undefined

  private constructor(options: WeightSetsOptions, base: WeightSet) {
    this.#options = options
    this.#base = base
  }

  static async open(options: WeightSetsOptions): Promise<WeightSets> {
    const { config, tensors } = options.model
    const weights = inferenceWeights(options.model)
    const empty = loraTensors(config, null)
    const bytes = [...tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (bytes < largestStored) {
      const session = await createSession(
        { config, contextLength: options.contextLength, stored: weights },
        options.threads,
      )
      return new WeightSets(options, { session, feeds: empty })
    }
    const session = createSession({ config, contextLength: options.contextLength }, options.threads)
    const sets = new WeightSets(options, { session: await session, feeds: { ...feedsOf(weights), ...empty } })
    sets.#fed = session
    return sets
  }

  /** The weights loaded under an id; `null` is the base. */
  get(id: string | null): WeightSet {
    return id === null ? this.#base : present(this.#adapters.get(id), `adapter ${id}`)
  }

  async load(id: string, content: AdapterContent): Promise<void> {
    if (this.#adapters.has(id)) throw new InvariantError(`adapter ${id} is loaded already`)
    const { config } = this.#options.model
    if (content.kind === 'lora') {
      this.#adapters.set(id, {
        session: this.#base.session,
        feeds: { ...this.#base.feeds, ...loraTensors(config, content.adapter) },
      })
      return
    }
    this.#fed ??= createSession({ config, contextLength: this.#options.contextLength }, this.#options.threads)
    const feeds = { ...feedsOf(inferenceWeights(content.model)), ...loraTensors(config, null) }
    this.#adapters.set(id, { session: await this.#fed, feeds })
  }

  unload(id: string): void {
    this.#adapters.delete(id)
  }

  async close(): Promise<void> {
    const fed = await this.#fed
    await this.#base.session.release()
    if (fed && fed !== this.#base.session) await fed.release()
  }
}

function createSession(spec: InferenceGraphSpec, threads: number): Promise<InferenceSession> {
  return InferenceSession.create(inferenceGraph(spec), {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // Memory patterns are per shape, and shapes vary.
    enableMemPattern: false,
  })
}

function loraTensors(config: LlamaConfig, adapter: AdapterWeights | null): Record<string, Tensor> {
  return feedsOf(loraOperands(config, adapter))
}

function feedsOf(operands: ReadonlyMap<string, Operand>): Record<string, Tensor> {
  const tensor = ({ elements, shape }: Operand) => new Tensor('float32', elements, shape)
  return Object.fromEntries([...operands].map(([name, operand]) => [name, tensor(operand)]))
}
