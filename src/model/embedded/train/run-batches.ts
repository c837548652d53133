import type { Datum } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { assign } from './assign.ts'
import type { PackedBatch, PlannedBatch, RowOrigin } from './packing.ts'
import type { TrainingShardPort } from './shard.ts'

/** What a batch gave, with where its rows belong. */
export interface Ran<Result> {
  readonly result: Result
  readonly origin: RowOrigin
  /** Grid cells computed, padding included. */
  readonly cells: number
}

/**
 * Every batch on its shard, in a fixed balanced order; each shard runs its own in turn. Results are in the order of the
 * batches. When one fails the others end first, and then the first failure is thrown.
 */
export async function runBatches<Result>(
  shards: readonly TrainingShardPort[],
  batches: readonly PlannedBatch[],
  run: (shard: TrainingShardPort, batch: PackedBatch) => Promise<Result>,
): Promise<Ran<Result>[]> {
  const ran: Ran<Result>[] = []
  const queues = assign(
    batches.map(({ nodes }) => nodes),
    shards.length,
  )
  const runs = shards.map(async (shard, index) => {
    for (const position of queues[index] ?? []) {
      const { batch, origin } = present(batches[position], `batch ${position}`).layOut()
      const cells = batch.tokens.length
      ran[position] = { result: await run(shard, batch), origin, cells }
    }
  })
  const failed = (await Promise.allSettled(runs)).find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return ran
}

/**
 * The rows' log-probabilities as one array a datum; 0 where there is no row.
 * @param before tokens that were computed in front of every datum.
 */
export function perDatum(data: readonly Datum[], ran: readonly Ran<Float32Array>[], before = 0): number[][] {
  const logprobs = data.map(({ input }) => Array<number>(input.length).fill(0))
  for (const { origin, result } of ran) {
    for (const [row, logprob] of result.entries()) {
      const datum = origin.datum[row] as number
      if (datum < 0) continue
      const of = present(logprobs[datum], 'the datum of a row')
      of[(origin.position[row] as number) - before] = logprob
    }
  }
  return logprobs
}
