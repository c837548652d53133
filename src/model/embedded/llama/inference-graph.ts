import { present } from '../../../errors/index.ts'
import {
  type Dimension,
  type Float,
  GraphBuilder,
  type GraphOptions,
  type Integer,
  gatherRows,
  product,
  reshape,
  rotary,
  transpose,
} from '../graph/index.ts'
import type { LlamaConfig } from './config.ts'
import { type BlockInput, type BlockMatrix, type Layer, type Operand, matrixShape, parts } from './inference-weights.ts'
import { rotaryTables } from './rotary-tables.ts'

/** Names of what a run feeds and returns besides weights. */
export const ports = {
  tokens: 'tokens',
  positions: 'positions',
  pad: 'pad',
  unpad: 'unpad',
  mask: 'mask',
  spans: 'spans',
  rows: 'rows',
  temperature: 'temperature',
  pastKey: (layer: number) => `past.${layer}.key`,
  pastValue: (layer: number) => `past.${layer}.value`,
  newKey: (layer: number) => `new.${layer}.key`,
  newValue: (layer: number) => `new.${layer}.value`,
  probabilities: 'probabilities',
  correction: 'correction',
} as const

export interface InferenceGraphSpec extends GraphOptions {
  readonly config: LlamaConfig
  /**
   * Weights by the names of `inference-weights.ts`, to be stored in the model: ONNX Runtime then packs them for its
   * kernels once. Without them every weight is an input of each run, and one session serves any set of weights.
   */
  readonly stored?: ReadonlyMap<string, Operand>
  /** Positions that the rotary tables cover. */
  readonly contextLength: number
}

/**
 * One step of a Llama over cached keys and values: the same graph extends prompts (many new tokens a sequence) and
 * decodes (one).
 *
 * New tokens lie packed in `tokens` `[tokens]`, whatever sequence they belong to, so that projections waste nothing on
 * padding; only attention sees the grid `[batch, new]`. `pad` `[batch, new]` names the packed token of each cell,
 * `unpad` `[tokens]` the cell of each packed token. A sequence's past lies in `past.*` `[batch, kvHeads, past, headDim]`;
 * `mask` `[batch, 1, new, past + new]` is added to the scores, and `spans` is `[past, new]`.
 *
 * Every projection has a low-rank pair as inputs; with pairs of rank 0 the result is the base model's bit for bit.
 *
 * Outputs: the new keys and values `[batch, kvHeads, new, headDim]`; for each of `rows` `[rows]` (packed tokens) the
 * next token's `probabilities` `[rows, vocab]` at that row's `temperature` `[rows, 1]`; and `correction` `[rows, 1]`, c in
 * log p₁ = temperature · log p + c, where p₁ is the probability at temperature 1.
 */
export function inferenceGraph(spec: InferenceGraphSpec): Uint8Array {
  const graph = new GraphBuilder('llama inference', spec)
  const model = new InferenceLlama(graph, spec)
  const rows = graph.input(ports.rows, 'int64', ['rows'])
  const temperature = graph.input(ports.temperature, 'float32', ['rows', 1])

  let hidden = model.embed()
  for (let layer = 0; layer < spec.config.layers; layer++) hidden = model.block(hidden, layer)
  const logits = model.head(gatherRows(hidden, rows))

  const scaled = graph.node('Div', [logits, temperature], 'float32', logits.shape)
  const scaledFirst = graph.node('Mul', [temperature, firstLogprob(scaled)], 'float32', ['rows', 1])
  graph.output(ports.probabilities, lastAxis('Softmax', scaled))
  // Both log-softmaxes are affine in the logits, so any one column of them yields the constant between the two.
  graph.output(ports.correction, graph.node('Sub', [firstLogprob(logits), scaledFirst], 'float32', ['rows', 1]))
  return graph.build()
}

class InferenceLlama {
  readonly #graph: GraphBuilder
  readonly #spec: InferenceGraphSpec
  readonly #positions: Integer
  readonly #pad: Integer
  readonly #unpad: Integer
  readonly #mask: Float
  readonly #spans: Integer
  readonly #cos: Float
  readonly #sin: Float
  readonly #weights = new Map<string, Float>()

  constructor(graph: GraphBuilder, spec: InferenceGraphSpec) {
    const { headDim } = spec.config
    const table = (name: string, elements: Float32Array) =>
      graph.initializer(name, 'float32', [spec.contextLength, headDim / 2], elements)
    const { cos, sin } = rotaryTables(spec.contextLength, spec.config)
    this.#graph = graph
    this.#spec = spec
    this.#positions = graph.input(ports.positions, 'int64', ['tokens', 1])
    this.#pad = graph.input(ports.pad, 'int64', ['batch', 'new'])
    this.#unpad = graph.input(ports.unpad, 'int64', ['tokens'])
    this.#mask = graph.input(ports.mask, 'float32', ['batch', 1, 'new', 'all'])
    this.#spans = graph.input(ports.spans, 'int64', [2])
    this.#cos = table('cos', cos)
    this.#sin = table('sin', sin)
  }

  embed(): Float {
    const { vocabSize, hiddenSize } = this.#spec.config
    const tokens = this.#graph.input(ports.tokens, 'int64', ['tokens'])
    return gatherRows(this.#weight(parts.embedding, [vocabSize, hiddenSize]), tokens)
  }

  block(hidden: Float, layer: number): Float {
    const normal = this.#norm(hidden, parts.attentionNorm(layer))
    const low = this.#lower(layer, 'attention', normal)
    const queryKey = this.#project(layer, 'qk', normal, low)
    const context = this.#attend(layer, queryKey, this.#project(layer, 'v', normal, low))
    const attended = this.#project(layer, 'o', context, this.#lower(layer, 'context', context), hidden)

    const wide = this.#norm(attended, parts.mlpNorm(layer))
    const lowWide = this.#lower(layer, 'mlp', wide)
    const gate = this.#project(layer, 'gate', wide, lowWide)
    // x · sigmoid(αx) with α = 1 is SiLU.
    const silu = this.#graph.node('QuickGelu', [gate], 'float32', gate.shape, {
      domain: 'com.microsoft',
      attributes: { alpha: { float: 1 } },
    })
    const up = this.#project(layer, 'up', wide, lowWide)
    const inner = this.#graph.node('Mul', [silu, up], 'float32', up.shape)
    return this.#project(layer, 'down', inner, this.#lower(layer, 'inner', inner), attended)
  }

  /** Logits `[rows, vocab]`. */
  head(hidden: Float): Float {
    const normal = this.#norm(hidden, parts.finalNorm)
    return this.#project('head', 'head', normal, this.#lower('head', 'head', normal))
  }

  /** Grouped-query attention of the new tokens over past and new ones; packed in, packed out. */
  #attend(layer: number, queryKey: Float, value: Float): Float {
    const { heads, kvHeads, headDim } = this.#spec.config
    const width = (heads + kvHeads) * headDim
    const cos = this.#cos
    const turned = rotary(reshape(queryKey, ['tokens', 1, width]), this.#positions, { cos, sin: this.#sin })
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
    const scale = 1 / Math.sqrt(headDim)
    const scores = this.#graph.node(
      'Concat',
      [product(queries, pastKey, { transposeB: true, scale }), product(queries, key, { transposeB: true, scale })],
      'float32',
      ['batch', kvHeads, 'queries', 'all'],
      { attributes: { axis: { int: -1 } } },
    )
    const byHead = reshape(scores, ['batch', heads, 'new', 'all'])
    const masked = this.#graph.node('Add', [byHead, this.#mask], 'float32', byHead.shape)
    const shares = reshape(lastAxis('Softmax', masked), ['batch', kvHeads, 'queries', 'all'])
    const [onPast, onNew] = this.#split(shares, -1, this.#spans, [
      ['batch', kvHeads, 'queries', 'past'],
      ['batch', kvHeads, 'queries', 'new'],
    ])
    const fromPast = product(onPast, pastValue)
    const context = this.#graph.node('Add', [fromPast, product(onNew, newValue)], 'float32', fromPast.shape)
    const merged = transpose(reshape(context, ['batch', heads, 'new', headDim]), [0, 2, 1, 3])
    return gatherRows(reshape(merged, ['cells', heads * headDim]), this.#unpad)
  }

  /** Packed `[tokens, n · headDim]` to the grid `[batch, n, new, headDim]`. */
  #grid(packed: Float): Float {
    const { headDim } = this.#spec.config
    const count = Number(packed.shape[1]) / headDim
    return transpose(reshape(gatherRows(packed, this.#pad), ['batch', 'new', count, headDim]), [0, 2, 1, 3])
  }

  /** x · Wᵀ, plus the low-rank path, plus `residual`: sums ride along in the products. */
  #project(layer: Layer, matrix: BlockMatrix | 'head', x: Float, low: Float, residual: Float | null = null): Float {
    const shape = matrixShape(this.#spec.config, matrix)
    const b = this.#graph.input(parts.loraB(layer, matrix), 'float32', [shape[0], present(low.shape[1], 'rank')])
    const shared = matrix === 'head' && this.#spec.config.tiedHead
    const weight = this.#weight(shared ? parts.embedding : parts.matrix(layer, matrix), shape)
    return gemm(x, weight, gemm(low, b, residual))
  }

  /** x · Aᵀ: what the low-rank pairs of every matrix that reads x have in common. */
  #lower(layer: Layer, input: BlockInput | 'head', x: Float): Float {
    const shape = [`${layer}.${input}.rank`, present(x.shape[1], 'width')]
    return gemm(x, this.#graph.input(parts.loraA(layer, input), 'float32', shape), null)
  }

  #norm(x: Float, name: string): Float {
    const { hiddenSize, rmsNormEps } = this.#spec.config
    return this.#graph.node('SimplifiedLayerNormalization', [x, this.#weight(name, [hiddenSize])], 'float32', x.shape, {
      attributes: { axis: { int: -1 }, epsilon: { float: rmsNormEps } },
    })
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

  #weight(name: string, shape: readonly number[]): Float {
    const known = this.#weights.get(name)
    if (known) return known
    const { stored } = this.#spec
    const weight = stored
      ? this.#graph.initializer(name, 'float32', shape, present(stored.get(name), name).elements)
      : this.#graph.input(name, 'float32', shape)
    this.#weights.set(name, weight)
    return weight
  }
}

/** x · Wᵀ + c. */
function gemm(x: Float, weight: Float, c: Float | null): Float {
  const shape = [present(x.shape[0], 'rows'), present(weight.shape[0], 'columns')]
  const attributes = { transB: { int: 1 } }
  return x.graph.node('Gemm', c === null ? [x, weight] : [x, weight, c], 'float32', shape, { attributes })
}

function lastAxis(operator: 'Softmax' | 'LogSoftmax', x: Float): Float {
  return x.graph.node(operator, [x], 'float32', x.shape, { attributes: { axis: { int: -1 } } })
}

/** Column 0 of the log-softmax of `[rows, vocab]`. */
function firstLogprob(logits: Float): Float {
  const { graph } = logits
  const [from, to, axis] = [graph.integers([0]), graph.integers([1]), graph.integers([1])]
  return graph.node('Slice', [lastAxis('LogSoftmax', logits), from, to, axis], 'float32', ['rows', 1])
}
