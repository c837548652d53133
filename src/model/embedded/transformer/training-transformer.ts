import { present } from '../../../errors/index.ts'
import {
  type Float,
  type GraphBuilder,
  type Integer,
  add,
  addBias,
  attention,
  columns,
  flattenRows,
  gatherRows,
  geglu,
  linear,
  mul,
  reshape,
  rmsNorm,
  rotary,
  roundedLinear,
  type RoundedWeight,
  stack,
  swiglu,
} from '../graph/index.ts'
import { gateName } from '../memory/memory-config.ts'
import { type ReadMemory, readMemory } from '../memory/read-memory.ts'
import { type LoraConfig, type LoraPair, type LoraTarget, loraPair } from '../train/lora.ts'
import { promptTensor } from '../train/soft-prompt.ts'
import type { TransformerConfig } from './config.ts'
import { prompted } from './prompted.ts'
import { type Trained, trainedShapes } from './trained.ts'
import type { TreeLayout } from './tree-layout.ts'
import { type BlockNorm, type Projection, names, projectionShape, projectionShapes, weightShapes } from './weights.ts'

/** Names of the inputs that a projection in 8 bits is. */
export const roundedPorts = {
  elements: (name: string) => `${name} in 8 bits`,
  turned: (name: string) => `${name} in 8 bits, transposed`,
  scales: (name: string) => `scales of ${name}`,
} as const

/** The model's parts as functions of a training graph; every weight is declared as an input. */
export class TrainingTransformer {
  /** Trained tensors by name. */
  readonly trained = new Map<string, Float>()
  readonly #graph: GraphBuilder
  readonly #config: TransformerConfig
  readonly #trained: Trained
  readonly #weights = new Map<string, Float>()
  readonly #rounded = new Map<string, RoundedWeight>()
  readonly #memory: ReadMemory | undefined

  /**
   * `recalls`: whether a memory is fed, for the layer that reads one. `rounded`: whether the blocks' projections are in 8 bits.
   */
  constructor(
    graph: GraphBuilder,
    config: TransformerConfig,
    trained: Trained,
    { recalls = false, rounded = false }: { readonly recalls?: boolean; readonly rounded?: boolean } = {},
  ) {
    this.#graph = graph
    this.#config = config
    this.#trained = trained
    const trainable = trainedShapes(config, trained)
    const projections = rounded ? projectionShapes(config) : new Map<string, readonly [number, number]>()
    for (const [name, [out, width]] of projections) {
      this.#rounded.set(name, {
        elements: graph.input(roundedPorts.elements(name), 'int8', [out, width]),
        turned: graph.input(roundedPorts.turned(name), 'int8', [width, out]),
        scales: graph.input(roundedPorts.scales(name), 'float32', [out]),
      })
    }
    for (const [name, shape] of new Map([...weightShapes(config), ...trainable])) {
      if (projections.has(name)) continue
      const value = graph.input(name, 'float32', shape)
      this.#weights.set(name, value)
      if (trainable.has(name)) this.trained.set(name, value)
    }
    if (trained.kind === 'memory' && recalls) this.#memory = readMemory(graph, config, trained)
  }

  /** The embedding's rows, as a constant of the graph: their gradient is scattered outside, in plain loops. */
  embed(tokens: Integer): Float {
    const words = this.#trained.kind === 'prompt' ? prompted(tokens, this.#config.vocabSize).words : tokens
    const shape = ['batch', 'nodes', this.#config.hiddenSize]
    return this.#graph.node('Gather', [this.#weight(names.embedding), words], 'float32', shape)
  }

  /** What the first block reads: the embedded tokens, and the soft prompt's vectors where one is trained. */
  stream(embedded: Float, tokens: Integer): Float {
    const { embeddingScale, vocabSize } = this.#config
    const scaled = embeddingScale === undefined ? embedded : mul(embedded, this.#graph.scalar(embeddingScale))
    if (this.#trained.kind !== 'prompt') return scaled
    return prompted(tokens, vocabSize).with(scaled, this.#weight(promptTensor))
  }

  /** One decoder block. With `rows` the result is those rows only, and what follows attention runs on them alone. */
  block(hidden: Float, layer: number, layout: TreeLayout, rows?: Integer): Float {
    const picked = (x: Float) => (rows === undefined ? x : gatherRows(flattenRows(x), rows))

    const normal = this.#norm(hidden, layer, 'attention')
    const mixed = this.#attend(normal, layer, layout)
    const attended = add(picked(hidden), this.#given(this.#project(picked(mixed), layer, 'o'), layer, 'attentionOut'))

    const wide = this.#norm(attended, layer, 'mlp')
    const gated = this.#config.activation === 'gelu-tanh' ? geglu : swiglu
    const adapted = this.#adapted(wide, layer, ['gate', 'up'])
    const inner = gated(this.#project(wide, layer, 'gate', adapted), this.#project(wide, layer, 'up', adapted))
    return add(attended, this.#given(this.#project(inner, layer, 'down'), layer, 'mlpOut'))
  }

  /** What the head reads: the last hidden state, after its norm. */
  normal(hidden: Float): Float {
    return this.#rmsNorm(hidden, names.finalNorm)
  }

  /** Logits `[rows, vocab]`. */
  head(normal: Float): Float {
    const { tiedHead, vocabSize, hiddenSize } = this.#config
    const weight = this.#weight(tiedHead ? names.embedding : names.head)
    const adapter = this.#adapter(names.head, [vocabSize, hiddenSize], 'lm_head')
    const logits = linear(normal, weight)
    if (adapter === undefined) return logits
    return add(logits, linear(linear(normal, this.#weight(adapter.a)), this.#weight(adapter.b), adapter.scale))
  }

  #attend(normal: Float, layer: number, layout: TreeLayout): Float {
    const adapted = this.#adapted(normal, layer, ['q', 'k', 'v'])
    const project = (projection: Projection) => this.#project(normal, layer, projection, adapted)
    const normed = (projection: Projection, norm: BlockNorm) => this.#normOfHeads(project(projection), layer, norm)
    const turned = (x: Float) => rotary(x, layout.positions, layout.tables(layer))
    const unturned = normed('q', 'query')
    const query = turned(unturned)
    const key = turned(normed('k', 'key'))
    const visible = (x: Float) => gatherRows(flattenRows(x), layout.keys)
    const local = attention(query, visible(key), visible(project('v')), layout.mask(layer), this.#config)
    return this.#memory?.layer === layer ? this.#memory.mix(local, unturned, this.#weight(gateName(layer))) : local
  }

  /** What a memory keeps of a layer that reads `hidden`. */
  memorable(hidden: Float, layer: number): { readonly keys: Float; readonly values: Float } {
    const normal = this.#norm(hidden, layer, 'attention')
    return {
      keys: this.#normOfHeads(this.#project(normal, layer, 'k'), layer, 'key'),
      values: this.#project(normal, layer, 'v'),
    }
  }

  /** x `[batch, nodes, heads · headDim]`, each head normed by itself, in models that do. */
  #normOfHeads(x: Float, layer: number, norm: BlockNorm): Float {
    const { qkNorm, headDim } = this.#config
    if (!qkNorm) return x
    const heads = reshape(x, [...x.shape.slice(0, -1), Number(x.shape.at(-1)) / headDim, headDim])
    return reshape(this.#norm(heads, layer, norm), x.shape)
  }

  /** What attention or the MLP adds to the stream. */
  #given(x: Float, layer: number, norm: BlockNorm): Float {
    return this.#config.postNorms ? this.#norm(x, layer, norm) : x
  }

  #norm(x: Float, layer: number, norm: BlockNorm): Float {
    return this.#rmsNorm(x, names.norm(this.#config, layer, norm))
  }

  #rmsNorm(x: Float, name: string): Float {
    const { rmsNormEps, normOffset } = this.#config
    const weight = this.#weight(name)
    return rmsNorm(x, normOffset === undefined ? weight : add(weight, this.#graph.scalar(normOffset)), rmsNormEps)
  }

  #project(x: Float, layer: number, projection: Projection, adapted = this.#adapted(x, layer, [projection])): Float {
    const name = names.projection(layer, projection)
    const rounded = this.#rounded.get(name)
    const base = rounded ? roundedLinear(x, rounded) : linear(x, this.#weight(name))
    const part = adapted.get(projection)
    const y = part ? add(base, part) : base
    const biased = this.#config.biases?.includes(projection) ?? false
    return biased ? addBias(y, this.#weight(names.bias(layer, projection))) : y
  }

  /**
   * What the adapters of these projections of x add, scale · x·Aᵀ·Bᵀ, of those that carry one. They enter the narrow space in one
   * product, of which each has its columns.
   */
  #adapted(x: Float, layer: number, wanted: readonly Projection[]): ReadonlyMap<Projection, Float> {
    const adapters = wanted.flatMap((projection) => {
      const adapter = this.#adapter(
        names.projection(layer, projection),
        projectionShape(this.#config, projection),
        projection,
      )
      return adapter ? [{ projection, ...adapter }] : []
    })
    const [first, ...rest] = adapters
    if (first === undefined) return new Map()
    const low = linear(x, stack([this.#weight(first.a), ...rest.map(({ a }) => this.#weight(a))]))
    return new Map(
      adapters.map(({ projection, b, scale, shapeA: [rank] }, i) => [
        projection,
        linear(columns(low, i * rank, rank), this.#weight(b), scale),
      ]),
    )
  }

  #adapter(name: string, shape: readonly [number, number], target: LoraTarget): Adapter | undefined {
    const lora = loraAt(this.#trained, name, target)
    return lora && { ...loraPair(name, shape, lora.rank), scale: lora.alpha / lora.rank }
  }

  #weight(name: string): Float {
    return present(this.#weights.get(name), `weight ${name}`)
  }
}

/** A pair, and what its product is scaled by. */
interface Adapter extends LoraPair {
  readonly scale: number
}

/** The LoRA that a matrix carries, where it carries one. */
function loraAt(trained: Trained, name: string, target: LoraTarget): Pick<LoraConfig, 'rank' | 'alpha'> | undefined {
  if (trained.kind === 'lora') return trained.targets.includes(target) ? trained : undefined
  if (trained.kind === 'memory') return name === names.projection(trained.layer, 'q') ? trained.queries : undefined
  return undefined
}
