import { z } from 'zod'
import { DecisionId, type Run, type RunId, type Store, TrajectoryId } from '../../core/index.ts'

/**
 * What a run learns from: kept as a blob beside its checkpoints, and after its end. It names trajectories and holds none
 * of their words, so that what is erased is gone.
 */
export const TrafficBatch = z.strictObject({
  asOf: z.number(),
  temperature: z.number().nullable(),
  /** The advantage of each decision that is fresh evidence. */
  credits: z.array(z.strictObject({ trajectory: TrajectoryId, decision: DecisionId, advantage: z.number() })),
  /** Trajectories in which people showed or preferred something, with the keys of the signals that count. */
  shown: z.array(z.strictObject({ trajectory: TrajectoryId, signals: z.array(z.string()) })),
})
export type TrafficBatch = z.infer<typeof TrafficBatch>

/** The name of the batch among a run's blobs. */
export const BATCH = 'batch'

/** An earlier run and what it learned from. */
export interface EarlierBatch {
  readonly run: RunId
  readonly completed: boolean
  readonly batch: TrafficBatch
}

export const encodeBatch = (batch: TrafficBatch): Uint8Array => new TextEncoder().encode(JSON.stringify(batch))
export const decodeBatch = (bytes: Uint8Array): TrafficBatch =>
  TrafficBatch.parse(JSON.parse(new TextDecoder().decode(bytes)))

/**
 * What earlier runs of an agent learned from traffic, newest first. A run that failed for good has used nothing: its
 * weights are gone.
 * @param since leaves out runs that had ended before: they know of nothing that began at or after it.
 */
export async function earlierBatches(
  { runs, blobs }: Pick<Store, 'runs' | 'blobs'>,
  agent: string,
  { since, limit, except }: { readonly since: number; readonly limit: number; readonly except: RunId | null },
): Promise<readonly EarlierBatch[]> {
  const found: EarlierBatch[] = []
  for (const run of await runs.list({ agent, limit })) {
    const over = run.endedAt !== null && run.endedAt < since
    if (run.id === except || over || run.status === 'failed' || !fromTraffic(run)) continue
    const hash = (await runs.latestCheckpoint(run.id))?.blobs[BATCH]
    if (hash === undefined) continue
    const batch = decodeBatch(await blobs.get(hash))
    found.push({ run: run.id, completed: run.status === 'completed', batch })
  }
  return found
}

/** Whether a run learned from traffic. */
export function fromTraffic({ config }: Pick<Run, 'config'>): boolean {
  return typeof config === 'object' && config !== null && 'source' in config && config.source === 'traffic'
}

/**
 * Says which trajectories runs learned from, of those that began at or after a moment. A session that goes on for longer
 * than a window changes in it, and may have been learned from long before it.
 */
export type UsedSince = (began: number) => Promise<ReadonlySet<TrajectoryId>>

/** Trajectories that these batches learned from. */
export function usedBy(batches: readonly EarlierBatch[]): ReadonlySet<TrajectoryId> {
  return new Set(batches.flatMap(({ batch }) => [...namedIn(batch)]))
}

/** The trajectories that a batch names. */
export function namedIn({ credits, shown }: TrafficBatch): ReadonlySet<TrajectoryId> {
  return new Set([...credits, ...shown].map(({ trajectory }) => trajectory))
}
