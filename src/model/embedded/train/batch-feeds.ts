import { Tensor } from 'onnxruntime-node'
import { lossNumber } from '../loss/index.ts'
import { auxiliaryPorts } from '../transformer/auxiliary.ts'
import type { PackedBatch } from './packed-batch.ts'
import type { LossSettings } from './shard.ts'

/** The laid-out tokens: what a graph without targets reads of a batch. */
export function treeFeeds(batch: PackedBatch): Record<string, Tensor> {
  const { batch: rows, nodes, keys } = batch.shape
  return {
    tokens: new Tensor('int64', batch.tokens, [rows, nodes]),
    positions: new Tensor('int64', batch.positions, [rows, nodes]),
    keys: new Tensor('int64', batch.keys, [rows, keys]),
    mask: new Tensor('float32', batch.mask, [rows, nodes, keys]),
  }
}

/** {@link treeFeeds}, and the target of each row. */
export function tokenFeeds(batch: PackedBatch): Record<string, Tensor> {
  return {
    ...treeFeeds(batch),
    rows: new Tensor('int64', batch.rows, [batch.rows.length]),
    targets: new Tensor('int64', batch.targets, [batch.targets.length]),
  }
}

/** What the loss reads: its terms at each row, its settings, and the targets of an auxiliary head. */
export function lossFeeds(batch: PackedBatch, loss: LossSettings): Record<string, Tensor> {
  const perRow = (data: Float32Array) => new Tensor('float32', data, [data.length])
  return {
    ...temperatureFeed(loss.temperature),
    lossKind: new Tensor('int64', BigInt64Array.of(lossNumber(loss.kind)), []),
    weights: perRow(batch.weights),
    oldLogprobs: perRow(batch.oldLogprobs),
    advantages: perRow(batch.advantages),
    clipLow: scalar(loss.clipLow),
    clipHigh: scalar(loss.clipHigh),
    ...auxiliaryFeeds(batch),
  }
}

/** The temperature at which log-probabilities are taken. */
export const temperatureFeed = (temperature: number): Record<string, Tensor> => ({
  inverseTemperature: scalar(1 / temperature),
})

/** Nothing of a batch without auxiliary targets. */
function auxiliaryFeeds({ auxiliary }: PackedBatch): Record<string, Tensor> {
  if (auxiliary === undefined) return {}
  const { targets, weights } = auxiliary
  return {
    [auxiliaryPorts.targets]: new Tensor('float32', targets, [weights.length, targets.length / weights.length]),
    [auxiliaryPorts.weights]: new Tensor('float32', weights, [weights.length, 1]),
  }
}

const scalar = (value: number) => new Tensor('float32', Float32Array.of(value), [])
