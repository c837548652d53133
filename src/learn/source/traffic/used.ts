import { z } from 'zod'
import { DecisionId, ParameterName, type RunId, type Store, TrajectoryId } from '../../../core/index.ts'
import { ownCanary } from '../../own-canary.ts'
import { fromTraffic } from '../../run/source-of.ts'

const count = z.int().nonnegative()

/**
 * Trajectories in which people showed or preferred something, with the keys of the signals that count, and how many of the
 * Demonstrations and pairs do; in batches of before there were such bounds: all.
 */
const Shown = z.array(
  z.strictObject({
    trajectory: TrajectoryId,
    signals: z.array(z.string()),
    most: z.strictObject({ demonstrations: count, pairs: count }).optional(),
  }),
)

/**
 * What a run learns from: kept as a blob beside its checkpoints, and after its end. It names trajectories and holds none
 * of their words, so that what is erased is gone. What batches of earlier versions hold beside is left out.
 */
export const TrafficBatch = z.object({
  asOf: z.number(),
  temperature: z.number().nullable(),
  /** What signals' worth was multiplied by, where an audit's labels said so. */
  factors: z.record(z.string(), z.number()).exactOptional(),
  /** What labels of audits said of trajectories that it names, from 0, wrong, to 1, right: they earned that. */
  truths: z.array(z.strictObject({ trajectory: TrajectoryId, truth: z.number().min(0).max(1) })).exactOptional(),
  /**
   * The advantage of each decision that is fresh evidence, `null` where nothing compares with it; and, of what is no sample of
   * weights, what its episode earned.
   */
  credits: z.array(
    z.strictObject({
      trajectory: TrajectoryId,
      decision: DecisionId,
      advantage: z.number().nullable(),
      utility: z.number().exactOptional(),
      charged: z.number().exactOptional(),
      vetoed: z.literal(true).exactOptional(),
    }),
  ),
  shown: Shown,
  /** Of each Parameter where the weights of several learn: its samples' temperature, and what was shown to it. */
  weights: z
    .record(ParameterName, z.strictObject({ temperature: z.number().nullable(), shown: Shown }))
    .exactOptional(),
})
export type TrafficBatch = z.infer<typeof TrafficBatch>

/** A batch as the weights of one Parameter learn from it. */
export const batchOf = (batch: TrafficBatch, parameter: ParameterName): TrafficBatch => ({
  ...batch,
  ...batch.weights?.[parameter],
})

/** The name of the batch among a run's blobs. */
export const BATCH = 'batch'

/** An earlier run and what it learned from. */
export interface EarlierBatch {
  readonly run: RunId
  /** Whether it has learned all that it could: it does not go on. */
  readonly over: boolean
  readonly batch: TrafficBatch
}

export const encodeBatch = (batch: TrafficBatch): Uint8Array => new TextEncoder().encode(JSON.stringify(batch))
export const decodeBatch = (bytes: Uint8Array): TrafficBatch =>
  TrafficBatch.parse(JSON.parse(new TextDecoder().decode(bytes)))

/** Runs of one page that the store is asked for. */
const page = 100

/**
 * What earlier runs of an agent learned from traffic, newest first, however many there are. A run that failed for good has
 * used nothing, as its weights are gone, unless it had begun a canary or made a release by then.
 * @param since leaves out runs that had ended before: they know of nothing that began at or after it.
 */
export async function* earlierBatches(
  store: Pick<Store, 'runs' | 'blobs' | 'canaries'>,
  agent: string,
  { since, except }: { readonly since: number; readonly except: RunId | null },
): AsyncGenerator<EarlierBatch> {
  const { runs, blobs } = store
  let before: RunId | undefined
  for (;;) {
    const found = await runs.list({ agent, endedSince: since, limit: page, ...(before ? { before } : {}) })
    for (const run of found) {
      if (run.id === except || !fromTraffic(run)) continue
      const lost = run.status === 'failed' && run.release === null
      if (lost && !(await ownCanary(store, run))) continue
      const hash = (await runs.latestCheckpoint(run.id))?.blobs[BATCH]
      if (typeof hash !== 'string') continue
      const batch = decodeBatch(await blobs.get(hash))
      yield { run: run.id, over: run.status === 'completed' || run.status === 'failed', batch }
    }
    before = found.at(-1)?.id
    if (found.length < page) return
  }
}

/**
 * Says which trajectories runs learned from, of those that began at or after a moment. A session that goes on for longer
 * than a window changes in it, and may have been learned from long before it.
 */
export type UsedSince = (began: number) => Promise<ReadonlySet<TrajectoryId>>

/** Trajectories that these batches learned from. */
export async function usedBy(batches: AsyncIterable<EarlierBatch>): Promise<ReadonlySet<TrajectoryId>> {
  const used = new Set<TrajectoryId>()
  for await (const { batch } of batches) for (const id of namedIn(batch)) used.add(id)
  return used
}

/** The trajectories that a batch names. */
export function namedIn({ credits, shown, weights = {} }: TrafficBatch): ReadonlySet<TrajectoryId> {
  const toEach = Object.values(weights).flatMap((one) => one.shown)
  return new Set([...credits, ...shown, ...toEach].map(({ trajectory }) => trajectory))
}
