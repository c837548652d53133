import { InvariantError } from '../../../errors/index.ts'
import type { PlannedBatch } from './packing.ts'
import { runBatches } from './run-batches.ts'
import type { LossSettings, TrainingShardPort } from './shard.ts'

/** Σ over batches of the batch's squared gradient, summed over the shards in their order. */
export async function summedSquares(
  shards: readonly TrainingShardPort[],
  batches: readonly PlannedBatch[],
  loss: LossSettings,
): Promise<Float32Array> {
  try {
    await runBatches(shards, batches, (shard, batch) => shard.addSquares(batch, loss))
  } catch (error) {
    await Promise.allSettled(shards.map((shard) => shard.takeSquares()))
    throw error
  }
  const parts = (await Promise.all(shards.map((shard) => shard.takeSquares()))).filter((part) => part !== null)
  const [sum, ...others] = parts
  if (sum === undefined) throw new InvariantError('no batch was run')
  for (const other of others) {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (other[i] as number)
  }
  return sum
}
