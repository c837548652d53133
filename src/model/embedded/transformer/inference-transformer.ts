import { present } from '../../../errors/index.ts'
import {
  type Dimension,
  type Float,
  type GraphBuilder,
  type GraphOptions,
  type Integer,
  type Value,
  gatherRows,
  product,
  reshape,
  rotary,
  roundedProduct,
  scoreScale,
  transpose,
} from '../graph/index.ts'
import type { MemoryConfig } from '../memory/memory-config.ts'
import { type ReadMemory, memoryPorts, readMemory } from '../memory/read-memory.ts'
import type { TransformerConfig } from './config.ts'
import {
  type BlockInput,
  type BlockMatrix,
  type Layer,
  type Operand,
  hasBias,
  matrixShape,
  parts,
} from './inference-weights.ts'
import { lastAxis } from './last-axis.ts'
import { ports } from './ports.ts'
import { prompted } from './prompted.ts'
import { type StepLayout, stepLayout } from './step-layout.ts'

export interface InferenceGraphSpec extends GraphOptions {
  readonly config: TransformerConfig
  /**
   * Weights by the names of `inference-weights.ts`, to be stored in the model: ONNX Runtime then packs them for its
   * kernels once. Without them every weight is an input of each run, and one session serves any set of weights.
   */
  readonly stored?: ReadonlyMap<string, Operand>
  /** Whether the blocks' matrices are in 8 bits. Default false. */
  readonly rounded?: boolean
  /** The layer that reads a memory, fed as `memory.keys`, `memory.values` and `memory.gate`. Absent: none does. */
  readonly memory?: Pick<MemoryConfig, 'layer' | 'neighbours'>
  /** Positions that the rotary tables cover. */
  readonly contextLength: number
}

/** The model's parts as functions of an inference graph; every weight is declared when it is first read. */
export class InferenceTransformer {
  readonly #graph: GraphBuilder
  readonly #spec: InferenceGraphSpec
  readonly #config: TransformerConfig
  readonly #layout: StepLayout
  readonly #weights = new Map<string, Float>()
  readonly #memory: ReadMemory | undefined
  #lastWide: Float | null = null

  constructor(graph: GraphBuilder, spec: InferenceGraphSpec) {
    this.#graph = graph
    this.#spec = spec
    this.#config = spec.config
    this.#layout = stepLayout(graph, spec.config, spec.contextLength)
    this.#memory = spec.memory && readMemory(graph, spec.config, spec.memory)
  }

  /** What the first block reads. */
  embed(): Float {
    const { vocabSize, hiddenSize, embeddingScale } = this.#config
    const tokens = this.#graph.input(ports.tokens, 'int64', ['tokens'])
    const split = prompted(tokens, vocabSize)
    const embedded = gatherRows(this.#weight(parts.embedding, [vocabSize, hiddenSize]), split.words)
    const scaled = embeddingScale === undefined ? embedded : this.#times(embedded, this.#graph.scalar(embeddingScale))
    return split.with(scaled, this.#graph.input(parts.prompt, 'float32', ['virtual', hiddenSize]))
  }

  block(hidden: Float, layer: number): Float {
    const normal = this.#norm(hidden, parts.norm(layer, 'attention'))
    const low = this.#lower(layer, 'attention', normal)
    const queryKey = this.#project(layer, 'qk', normal, low)
    const context = this.#attend(layer, queryKey, this.#project(layer, 'v', normal, low))
    const lowContext = this.#lower(layer, 'context', context)
    const attended = this.#add(layer, 'attentionOut', hidden, (onto) =>
      this.#project(layer, 'o', context, lowContext, onto),
    )

    const wide = this.#norm(attended, parts.norm(layer, 'mlp'))
    this.#lastWide = wide
    const lowWide = this.#lower(layer, 'mlp', wide)
    const gate = this.#activated(this.#project(layer, 'gate', wide, lowWide))
    const inner = this.#times(gate, this.#project(layer, 'up', wide, lowWide))
    const lowInner = this.#lower(layer, 'inner', inner)
    return this.#add(layer, 'mlpOut', attended, (onto) => this.#project(layer, 'down', inner, lowInner, onto))
  }

  /** What the feed-forward network of the block that was made last reads, `[tokens, hiddenSize]`. */
  get lastWide(): Float {
    return present(this.#lastWide, 'a block')
  }

  /** Logits `[rows, vocab]`. */
  head(hidden: Float): Float {
    const normal = this.#norm(hidden, parts.finalNorm)
    return this.#project('head', 'head', normal, this.#lower('head', 'head', normal))
  }

  /** The stream plus what a part gives: the sum rides along in the part's last product, unless a norm lies between. */
  #add(layer: number, norm: 'attentionOut' | 'mlpOut', stream: Float, given: (onto: Float | null) => Float): Float {
    if (!this.#config.postNorms) return given(stream)
    return this.#graph.node('Add', [stream, this.#norm(given(null), parts.norm(layer, norm))], 'float32', stream.shape)
  }

  #activated(gate: Float): Float {
    if (this.#config.activation === 'gelu-tanh') {
      return this.#graph.node('Gelu', [gate], 'float32', gate.shape, {
        attributes: { approximate: { string: 'tanh' } },
      })
    }
    // x · sigmoid(αx) with α = 1 is SiLU.
    return this.#graph.node('QuickGelu', [gate], 'float32', gate.shape, {
      domain: 'com.microsoft',
      attributes: { alpha: { float: 1 } },
    })
  }

  /** Grouped-query attention of the new tokens over past and new ones; packed in, packed out. */
  #attend(layer: number, queryKey: Float, value: Float): Float {
    const { heads, kvHeads, headDim } = this.#config
    const width = (heads + kvHeads) * headDim
    const normal = this.#normOfHeads(layer, queryKey)
    const turned = rotary(reshape(normal, ['tokens', 1, width]), this.#layout.positions, this.#layout.tables(layer))
    const [query, key] = this.#split(
      this.#grid(reshape(turned, ['tokens', width])),
      1,
      this.#graph.integers([heads, kvHeads]),
      [
        ['batch', heads, 'new', headDim],
        ['batch', kvHeads, 'new', headDim],
      ],
    )
    const newValue = this.#grid(value)
    this.#graph.output(ports.newKey(layer), key)
    this.#graph.output(ports.newValue(layer), newValue)
    const past = ['batch', kvHeads, 'past', headDim]
    const pastKey = this.#graph.input(ports.pastKey(layer), 'float32', past)
    const pastValue = this.#graph.input(ports.pastValue(layer), 'float32', past)

    // The query heads that share a key head become rows of one product with it.
    const queries = reshape(query, ['batch', kvHeads, 'queries', headDim])
    const scale = scoreScale(this.#config)
    const scores = this.#graph.node(
      'Concat',
      [product(queries, pastKey, { transposeB: true, scale }), product(queries, key, { transposeB: true, scale })],
      'float32',
      ['batch', kvHeads, 'queries', 'all'],
      { attributes: { axis: { int: -1 } } },
    )
    const byHead = reshape(scores, ['batch', heads, 'new', 'all'])
    const masked = this.#graph.node('Add', [byHead, this.#layout.mask(layer)], 'float32', byHead.shape)
    const shares = reshape(lastAxis('Softmax', masked), ['batch', kvHeads, 'queries', 'all'])
    const [onPast, onNew] = this.#split(shares, -1, this.#layout.spans, [
      ['batch', kvHeads, 'queries', 'past'],
      ['batch', kvHeads, 'queries', 'new'],
    ])
    const fromPast = product(onPast, pastValue)
    const context = this.#graph.node('Add', [fromPast, product(onNew, newValue)], 'float32', fromPast.shape)
    const merged = transpose(reshape(context, ['batch', heads, 'new', headDim]), [0, 2, 1, 3])
    const local = gatherRows(reshape(merged, ['cells', heads * headDim]), this.#layout.unpad)
    return this.#memory?.layer === layer ? this.#recalled(this.#memory, local, normal) : local
  }

  /** What attention gives, mixed with what the memory gives to the queries among stacked queries and keys. */
  #recalled(memory: ReadMemory, local: Float, queryKey: Float): Float {
    const { heads, kvHeads, headDim } = this.#config
    const widths = [heads * headDim, kvHeads * headDim] as const
    const [queries] = this.#split(queryKey, 1, this.#graph.integers(widths), [
      ['tokens', widths[0]],
      ['tokens', widths[1]],
    ])
    return memory.mix(local, queries, this.#graph.input(memoryPorts.gate, 'float32', [heads]))
  }

  /** Stacked queries and keys `[tokens, (heads + kvHeads) · headDim]`, each head normed by itself, in models that do. */
  #normOfHeads(layer: number, queryKey: Float): Float {
    const { heads, kvHeads, headDim, qkNorm } = this.#config
    if (!qkNorm) return queryKey
    const split = reshape(queryKey, ['tokens', heads + kvHeads, headDim])
    // The operator takes one weight for all heads, and queries' is not keys'.
    const normal = this.#normalized(split, this.#ones(headDim))
    const weight = this.#weight(parts.queryKeyNorm(layer), [heads + kvHeads, headDim])
    return reshape(this.#times(normal, weight), queryKey.shape)
  }

  /** Packed `[tokens, n · headDim]` to the grid `[batch, n, new, headDim]`. */
  #grid(packed: Float): Float {
    const { headDim } = this.#config
    const count = Number(packed.shape[1]) / headDim
    return transpose(reshape(gatherRows(packed, this.#layout.pad), ['batch', 'new', count, headDim]), [0, 2, 1, 3])
  }

  /** x · Wᵀ, plus the low-rank path, plus the bias, plus `residual`: sums ride along in the products. */
  #project(layer: Layer, matrix: BlockMatrix | 'head', x: Float, low: Float, residual: Float | null = null): Float {
    const shape = matrixShape(this.#config, matrix)
    const b = this.#graph.input(parts.loraB(layer, matrix), 'float32', [shape[0], present(low.shape[1], 'rank')])
    const beside = gemm(low, b, this.#biased(layer, matrix, residual))
    if (this.#spec.rounded && layer !== 'head' && matrix !== 'head')
      return this.#graph.node('Add', [this.#rounded(layer, matrix, x, shape), beside], 'float32', beside.shape)
    const shared = matrix === 'head' && this.#config.tiedHead
    const weight = this.#weight(shared ? parts.embedding : parts.matrix(layer, matrix), shape)
    return gemm(x, weight, beside)
  }

  /** x · Wᵀ with a W in 8 bits. */
  #rounded(layer: number, matrix: BlockMatrix, x: Float, [out, width]: readonly [number, number]): Float {
    const elements = this.#given(parts.roundedMatrix(layer, matrix), 'int8', [width, out])
    return roundedProduct(x, elements, this.#weight(parts.scales(layer, matrix), [out]))
  }

  #biased(layer: Layer, matrix: BlockMatrix | 'head', residual: Float | null): Float | null {
    if (!hasBias(this.#config, matrix)) return residual
    const bias = this.#weight(parts.bias(layer, matrix), [matrixShape(this.#config, matrix)[0]])
    return residual === null ? bias : this.#graph.node('Add', [residual, bias], 'float32', residual.shape)
  }

  /** x · Aᵀ: what the low-rank pairs of every matrix that reads x have in common. */
  #lower(layer: Layer, input: BlockInput | 'head', x: Float): Float {
    const shape = [`${layer}.${input}.rank`, present(x.shape[1], 'width')]
    return gemm(x, this.#graph.input(parts.loraA(layer, input), 'float32', shape), null)
  }

  #norm(x: Float, name: string): Float {
    return this.#normalized(x, this.#weight(name, [this.#config.hiddenSize]))
  }

  /** RMSNorm over the last axis. */
  #normalized(x: Float, weight: Float): Float {
    return this.#graph.node('SimplifiedLayerNormalization', [x, weight], 'float32', x.shape, {
      attributes: { axis: { int: -1 }, epsilon: { float: this.#config.rmsNormEps } },
    })
  }

  #times(x: Float, factor: Float): Float {
    return this.#graph.node('Mul', [x, factor], 'float32', x.shape)
  }

  #split(
    x: Float,
    axis: number,
    sizes: Integer,
    shapes: readonly [readonly Dimension[], readonly Dimension[]],
  ): [Float, Float] {
    const outputs = shapes.map((shape) => ({ dtype: 'float32' as const, shape }))
    return this.#graph.nodeWithOutputs('Split', [x, sizes], outputs, { attributes: { axis: { int: axis } } }) as [
      Float,
      Float,
    ]
  }

  #ones(length: number): Float {
    return this.#once('ones', () =>
      this.#graph.initializer('ones', 'float32', [length], new Float32Array(length).fill(1)),
    )
  }

  #weight(name: string, shape: readonly number[]): Float {
    return this.#once(name, () => this.#given(name, 'float32', shape))
  }

  #given<D extends 'float32' | 'int8'>(name: string, dtype: D, shape: readonly number[]): Value<D> {
    const { stored } = this.#spec
    if (stored === undefined) return this.#graph.input(name, dtype, shape)
    return this.#graph.initializer(name, dtype, shape, present(stored.get(name), name).elements)
  }

  #once(name: string, make: () => Float): Float {
    const known = this.#weights.get(name) ?? make()
    this.#weights.set(name, known)
    return known
  }
}

/** x · Wᵀ + c. */
function gemm(x: Float, weight: Float, c: Float | null): Float {
  const shape = [present(x.shape[0], 'rows'), present(weight.shape[0], 'columns')]
  const attributes = { transB: { int: 1 } }
  return x.graph.node('Gemm', c === null ? [x, weight] : [x, weight, c], 'float32', shape, { attributes })
}
