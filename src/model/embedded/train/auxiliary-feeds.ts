import { Tensor } from 'onnxruntime-node'
import { auxiliaryPorts } from '../transformer/auxiliary.ts'
import type { PackedBatch } from './packed-batch.ts'

/** What a graph with an auxiliary head reads of a batch; nothing of one without targets for it. */
export function auxiliaryFeeds({ auxiliary }: PackedBatch): Record<string, Tensor> {
  if (auxiliary === undefined) return {}
  const { targets, weights } = auxiliary
  return {
    [auxiliaryPorts.targets]: new Tensor('float32', targets, [weights.length, targets.length / weights.length]),
    [auxiliaryPorts.weights]: new Tensor('float32', weights, [weights.length, 1]),
  }
}
