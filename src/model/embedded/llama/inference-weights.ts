import { present } from '../../../errors/index.ts'
import { type AdapterWeights, type LoraTarget, loraPair } from '../train/lora.ts'
import type { LlamaConfig, ModelWeights } from './config.ts'
import { type Projection, names, projectionShape } from './weights.ts'

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
  finalNorm: 'norm',
  attentionNorm: (layer: number) => `${layer}.attention.norm`,
  mlpNorm: (layer: number) => `${layer}.mlp.norm`,
  matrix: (layer: Layer, matrix: BlockMatrix | 'head') => `${layer}.${matrix}`,
  loraA: (layer: Layer, input: BlockInput | 'head') => `${layer}.${input}.lora.a`,
  loraB: (layer: Layer, matrix: BlockMatrix | 'head') => `${layer}.${matrix}.lora.b`,
} as const

/** A block's number, or the output head. */
export type Layer = number | 'head'

/** `[out, in]` of an inference matrix. */
export function matrixShape(config: LlamaConfig, matrix: BlockMatrix | 'head'): readonly [number, number] {
  if (matrix === 'head') return [config.vocabSize, config.hiddenSize]
  if (matrix !== 'qk') return projectionShape(config, matrix)
  const [query, input] = projectionShape(config, 'q')
  return [query + projectionShape(config, 'k')[0], input]
}

/** One input of the graph: elements and shape. */
export interface Operand {
  readonly elements: Float32Array
  readonly shape: readonly number[]
}

/** The inference graph's weights: the model's own arrays, except for the stacked query and key rows. */
export function inferenceWeights({ config, tensors }: ModelWeights): Map<string, Operand> {
  const tensor = (name: string) => present(tensors.get(name), name)
  const norm = (name: string): Operand => ({ elements: tensor(name), shape: [config.hiddenSize] })
  const weights = new Map<string, Operand>([
    [parts.embedding, { elements: tensor(names.embedding), shape: [config.vocabSize, config.hiddenSize] }],
    [parts.finalNorm, norm(names.finalNorm)],
  ])
  if (!config.tiedHead) {
    weights.set(parts.matrix('head', 'head'), { elements: tensor(names.head), shape: matrixShape(config, 'head') })
  }
  for (let layer = 0; layer < config.layers; layer++) {
    const projection = (name: Projection) => tensor(names.projection(layer, name))
    weights.set(parts.attentionNorm(layer), norm(names.inputNorm(layer)))
    weights.set(parts.mlpNorm(layer), norm(names.postAttentionNorm(layer)))
    for (const matrix of blockMatrices) {
      const elements = matrix === 'qk' ? stacked(projection('q'), projection('k')) : projection(matrix)
      weights.set(parts.matrix(layer, matrix), { elements, shape: matrixShape(config, matrix) })
    }
  }
  return weights
}

/**
 * A LoRA adapter as inputs of the inference graph. The A of all matrices that read one activation are stacked, and
 * each matrix's B has zeros for the others' ranks; B carries alpha / rank. `null` is the empty adapter, rank 0: the
 * base model exactly.
 */
export function loraOperands(config: LlamaConfig, adapter: AdapterWeights | null): Map<string, Operand> {
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

function stacked(above: Float32Array, below: Float32Array): Float32Array {
  const both = new Float32Array(above.length + below.length)
  both.set(above)
  both.set(below, above.length)
  return both
}
