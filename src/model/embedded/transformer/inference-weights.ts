import { present } from '../../../errors/index.ts'
import { type AdapterWeights, type LoraTarget, loraPair } from '../train/lora.ts'
import type { SoftPrompt } from '../train/soft-prompt.ts'
import type { BaseWeights } from './base-weights.ts'
import type { TransformerConfig } from './config.ts'
import { stackedRounded, turned } from './rounded-matrix.ts'
import { type BlockNorm, type Projection, names, projectionShape } from './weights.ts'

/**
 * The matrices a block multiplies with when sampling. Query and key rows are stacked in one, so that one product and
 * one rotation serve both.
 */
export const blockMatrices = ['qk', 'v', 'o', 'gate', 'up', 'down'] as const
export type BlockMatrix = (typeof blockMatrices)[number]

/** The activations that matrices read: low-rank pairs on one activation share one product with their stacked A. */
export type BlockInput = 'attention' | 'context' | 'mlp' | 'inner'

/** Names of the inference graph's weights. */
export const parts = {
  embedding: 'embedding',
  prompt: 'prompt',
  finalNorm: 'norm',
  norm: (layer: number, norm: StreamNorm) => `${layer}.${norm}.norm`,
  queryKeyNorm: (layer: number) => `${layer}.qk.norm`,
  matrix: (layer: Layer, matrix: BlockMatrix | 'head') => `${layer}.${matrix}`,
  /** A matrix in 8 bits is two: its elements, `[in, out]`, and the scales of its rows, `[out]`. */
  roundedMatrix: (layer: number, matrix: BlockMatrix) => `${layer}.${matrix}.int8`,
  scales: (layer: number, matrix: BlockMatrix) => `${layer}.${matrix}.scales`,
  bias: (layer: Layer, matrix: BlockMatrix | 'head') => `${layer}.${matrix}.bias`,
  loraA: (layer: Layer, input: BlockInput | 'head') => `${layer}.${input}.lora.a`,
  loraB: (layer: Layer, matrix: BlockMatrix | 'head') => `${layer}.${matrix}.lora.b`,
} as const

/** The norms of the stream's width. */
export type StreamNorm = Exclude<BlockNorm, 'query' | 'key'>

/** A soft prompt as an input of the inference graph. `null` is none: a row that no token names. */
export const promptOperand = (
  { hiddenSize }: Pick<TransformerConfig, 'hiddenSize'>,
  prompt: SoftPrompt | null,
): Operand =>
  prompt === null
    ? { elements: new Float32Array(hiddenSize), shape: [1, hiddenSize] }
    : { elements: prompt.values, shape: [prompt.length, hiddenSize] }

/** A block's number, or the output head. */
export type Layer = number | 'head'

/** `[out, in]` of an inference matrix. */
export function matrixShape(config: TransformerConfig, matrix: BlockMatrix | 'head'): readonly [number, number] {
  if (matrix === 'head') return [config.vocabSize, config.hiddenSize]
  if (matrix !== 'qk') return projectionShape(config, matrix)
  const [query, input] = projectionShape(config, 'q')
  return [query + projectionShape(config, 'k')[0], input]
}

/** The model's projections that a matrix stacks. */
const stackedIn = (matrix: BlockMatrix): readonly Projection[] => (matrix === 'qk' ? ['q', 'k'] : [matrix])

/** Whether a bias is added to a matrix's product, or to a part of it. */
export const hasBias = ({ biases = [] }: TransformerConfig, matrix: BlockMatrix | 'head'): boolean =>
  matrix !== 'head' && stackedIn(matrix).some((projection) => biases.includes(projection))

/** One input of the graph: elements and shape. */
export interface Operand {
  readonly elements: Float32Array | Int8Array
  readonly shape: readonly number[]
}

/**
 * The inference graph's weights: the model's own arrays, except for what is stacked (query and key rows, their biases and
 * norms), for norms with an offset, which are added up here, and for matrices in 8 bits, which are transposed.
 */
export function inferenceWeights({ config, tensors, rounded }: BaseWeights): Map<string, Operand> {
  const tensor = (name: string) => present(tensors.get(name), name)
  const norm = (name: string): Operand => ({ elements: offset(tensor(name), config), shape: [config.hiddenSize] })
  const weights = new Map<string, Operand>([
    [parts.embedding, { elements: tensor(names.embedding), shape: [config.vocabSize, config.hiddenSize] }],
    [parts.finalNorm, norm(names.finalNorm)],
  ])
  if (!config.tiedHead) {
    weights.set(parts.matrix('head', 'head'), { elements: tensor(names.head), shape: matrixShape(config, 'head') })
  }
  const streamNorms: StreamNorm[] = ['attention', 'mlp', ...(config.postNorms ? postNorms : [])]
  for (let layer = 0; layer < config.layers; layer++) {
    for (const name of streamNorms) weights.set(parts.norm(layer, name), norm(names.norm(config, layer, name)))
    for (const matrix of blockMatrices) {
      const named = stackedIn(matrix).map((projection) => names.projection(layer, projection))
      const [out, width] = matrixShape(config, matrix)
      if (rounded) {
        const rows = stackedRounded(named.map((name) => present(rounded.get(name), name)))
        weights.set(parts.roundedMatrix(layer, matrix), { elements: turned(rows), shape: [width, out] })
        weights.set(parts.scales(layer, matrix), { elements: rows.scales, shape: [out] })
      } else {
        weights.set(parts.matrix(layer, matrix), { elements: stacked(named.map(tensor)), shape: [out, width] })
      }
      if (hasBias(config, matrix)) weights.set(parts.bias(layer, matrix), biasOf(config, layer, matrix, tensor))
    }
    if (config.qkNorm) weights.set(parts.queryKeyNorm(layer), queryKeyNorm(config, layer, tensor))
  }
  return weights
}

const postNorms = ['attentionOut', 'mlpOut'] as const

/** The biases of what a matrix stacks; a projection without one has zeros. */
function biasOf(
  config: TransformerConfig,
  layer: number,
  matrix: BlockMatrix,
  tensor: (name: string) => Float32Array,
): Operand {
  const elements = stackedIn(matrix).map((projection) => {
    const biased = config.biases?.includes(projection) ?? false
    return biased ? tensor(names.bias(layer, projection)) : new Float32Array(projectionShape(config, projection)[0])
  })
  return { elements: stacked(elements), shape: [matrixShape(config, matrix)[0]] }
}

/** A row for each head that the stacked queries and keys have. */
function queryKeyNorm(config: TransformerConfig, layer: number, tensor: (name: string) => Float32Array): Operand {
  const { heads, kvHeads, headDim } = config
  const rows = (norm: 'query' | 'key', count: number) =>
    Array<Float32Array>(count).fill(offset(tensor(names.norm(config, layer, norm)), config))
  return { elements: stacked([...rows('query', heads), ...rows('key', kvHeads)]), shape: [heads + kvHeads, headDim] }
}

const offset = (weight: Float32Array, { normOffset }: TransformerConfig): Float32Array =>
  normOffset === undefined ? weight : weight.map((value) => value + normOffset)

/**
 * A LoRA adapter as inputs of the inference graph. The A of all matrices that read one activation are stacked, and
 * each matrix's B has zeros for the others' ranks; B carries alpha / rank. `null` is the empty adapter, rank 0: the
 * base model exactly.
 */
export function loraOperands(config: TransformerConfig, adapter: AdapterWeights | null): Map<string, Operand> {
  const operands = new Map<string, Operand>()
  const site = (layer: Layer, input: BlockInput | 'head', readers: readonly Reader[]) => {
    const carried = readers.flatMap(({ adapted }) => adapted).filter(({ target }) => adapter?.targets.includes(target))
    const rank = adapter?.rank ?? 0
    const [, width] = matrixShape(config, present(readers[0], 'a reader').matrix)
    const a = new Float32Array(carried.length * rank * width)
    carried.forEach(({ name, shape }, index) => a.set(pairTensor(adapter, name, shape, 'a'), index * rank * width))
    operands.set(parts.loraA(layer, input), { elements: a, shape: [carried.length * rank, width] })
    for (const { matrix, adapted } of readers) {
      const [out] = matrixShape(config, matrix)
      const b = new Float32Array(out * carried.length * rank)
      let firstRow = 0
      for (const { target, name, shape } of adapted) {
        const index = carried.findIndex((other) => other.target === target)
        if (adapter && index >= 0) {
          const block = {
            firstRow,
            firstColumn: index * rank,
            width: carried.length * rank,
            rank,
            scale: adapter.alpha / rank,
          }
          placeBlock(b, pairTensor(adapter, name, shape, 'b'), block)
        }
        firstRow += shape[0]
      }
      operands.set(parts.loraB(layer, matrix), { elements: b, shape: [out, carried.length * rank] })
    }
  }
  for (let layer = 0; layer < config.layers; layer++) {
    const reader = (matrix: BlockMatrix, ...targets: Projection[]): Reader => ({
      matrix,
      adapted: targets.map((target) => ({
        target,
        name: names.projection(layer, target),
        shape: projectionShape(config, target),
      })),
    })
    site(layer, 'attention', [reader('qk', 'q', 'k'), reader('v', 'v')])
    site(layer, 'context', [reader('o', 'o')])
    site(layer, 'mlp', [reader('gate', 'gate'), reader('up', 'up')])
    site(layer, 'inner', [reader('down', 'down')])
  }
  const head = { target: 'lm_head' as const, name: names.head, shape: matrixShape(config, 'head') }
  site('head', 'head', [{ matrix: 'head', adapted: [head] }])
  return operands
}

/** A matrix of the graph and the model's matrices that are stacked in it. */
interface Reader {
  readonly matrix: BlockMatrix | 'head'
  readonly adapted: readonly {
    readonly target: LoraTarget
    readonly name: string
    readonly shape: readonly [number, number]
  }[]
}

function pairTensor(
  adapter: AdapterWeights | null,
  name: string,
  shape: readonly [number, number],
  half: 'a' | 'b',
): Float32Array {
  const { rank, tensors } = present(adapter, 'adapter')
  const tensor = loraPair(name, shape, rank)[half]
  return present(tensors.get(tensor), tensor)
}

/** Writes `scale` · block, whose rows have `rank` elements, into rows and columns of a wider matrix. */
function placeBlock(
  matrix: Float32Array,
  block: Float32Array,
  at: {
    readonly firstRow: number
    readonly firstColumn: number
    readonly width: number
    readonly rank: number
    readonly scale: number
  },
): void {
  for (let row = 0; row * at.rank < block.length; row++) {
    for (let column = 0; column < at.rank; column++) {
      const value = block[row * at.rank + column] as number
      matrix[(at.firstRow + row) * at.width + at.firstColumn + column] = at.scale * value
    }
  }
}

/** Arrays one after another; one alone is itself. */
function stacked(arrays: readonly Float32Array[]): Float32Array {
  const [only] = arrays
  if (only !== undefined && arrays.length === 1) return only
  const all = new Float32Array(arrays.reduce((sum, { length }) => sum + length, 0))
  let end = 0
  for (const array of arrays) {
    all.set(array, end)
    end += array.length
  }
  return all
}
