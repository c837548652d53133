import { type Float, type GraphBuilder, linear, mul, reshape, sub } from '../graph/index.ts'
import type { TransformerConfig } from './config.ts'
import { type Trained, trainedShapes } from './trained.ts'

/** The auxiliary head among the trained tensors. It is no part of a model: it exists while it is trained. */
export const auxiliaryHead = 'auxiliary.weight'

/** Names of what a run feeds beside a batch without auxiliary targets, and of the sum of losses that it gives. */
export const auxiliaryPorts = {
  targets: 'auxiliaryTargets',
  weights: 'auxiliaryWeights',
  loss: 'auxiliaryLoss',
} as const

/** The head's shape. */
export const auxiliaryShape = ({ hiddenSize }: TransformerConfig, outputs: number): readonly [number, number] => [
  outputs,
  hiddenSize,
]

/** Names and shapes of what is trained with a head, which comes last; without one (0 outputs) those of `trainedShapes`. */
export function shapesWithHead(
  config: TransformerConfig,
  trained: Trained,
  outputs: number,
): ReadonlyMap<string, readonly number[]> {
  const shapes = trainedShapes(config, trained)
  return outputs === 0 ? shapes : new Map([...shapes, [auxiliaryHead, auxiliaryShape(config, outputs)]])
}

/**
 * The loss of a linear head on what the output head reads: w · mean_j (ŷ_j − y_j)² with ŷ = h·Wᵀ, `[rows]`.
 * @param normal the last hidden state after its norm, `[rows, hidden]`.
 * @returns the losses, and the head, which is an input of the graph.
 */
export function auxiliaryLosses(
  graph: GraphBuilder,
  normal: Float,
  shape: readonly [outputs: number, hidden: number],
): { readonly losses: Float; readonly head: Float } {
  const [outputs] = shape
  const head = graph.input(auxiliaryHead, 'float32', shape)
  const targets = graph.input(auxiliaryPorts.targets, 'float32', ['rows', outputs])
  const weights = graph.input(auxiliaryPorts.weights, 'float32', ['rows', 1])
  const errors = sub(linear(normal, head), targets)
  const weighed = mul(mul(errors, errors), weights)
  // A sum over the outputs: there is no rule for one, and a product with ones has its gradient.
  const ones = graph.initializer('auxiliary ones', 'float32', [1, outputs], new Float32Array(outputs).fill(1))
  return { losses: reshape(linear(weighed, ones, 1 / outputs), ['rows']), head }
}
