import { backward } from '../../agent/index.ts'
import type { Trajectory, TrajectoryId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Material } from './learned-from.ts'
import { shownIn, type Shown } from './shown.ts'
import type { TrafficRun } from './traffic-run.ts'
import { BATCH, decodeBatch, type TrafficBatch } from './used.ts'

/** What the run learns from, read once. */
export async function materialOf(run: TrafficRun): Promise<Material> {
  run.material ??= await materialIn(run, await ownBatch(run))
  return run.material
}

async function ownBatch(run: TrafficRun): Promise<TrafficBatch> {
  const hash = present(run.blobs[BATCH], "the run's batch")
  return decodeBatch(await run.options.store.blobs.get(hash))
}

/**
 * Reads the trajectories that a batch names. Those that were erased since are gone, and so are those whose client has
 * forbidden learning since.
 */
export async function materialIn(
  run: Pick<TrafficRun, 'options' | 'parameter'>,
  { asOf, temperature, credits, shown }: TrafficBatch,
): Promise<Material> {
  const credited = await learnable(run, new Set(credits.map(({ trajectory }) => trajectory)))
  const { longest } = limitsOf(run)
  const gradients = backward({ trajectories: credited, credits }).flatMap((gradient) =>
    gradient.kind === 'weights' && gradient.parameter === run.parameter
      ? [{ ...gradient, samples: gradient.samples.filter(({ tokens }) => tokens.length <= longest) }]
      : [],
  )
  const taught: Shown[] = []
  const heard = new Map(shown.map(({ trajectory, signals }) => [trajectory, new Set(signals)]))
  for (const trajectory of await learnable(run, new Set(heard.keys()))) {
    const counted = heard.get(trajectory.id)
    const signals = (await run.options.store.signals.of(trajectory.id)).filter(({ key }) => counted?.has(key))
    const reward = await run.options.reward.score(trajectory, signals, asOf)
    taught.push(shownIn({ trajectory, reward, signals }, asOf, run.options.model.renderer, longest))
  }
  return {
    temperature,
    gradients,
    demonstrations: taught.flatMap(({ demonstrations }) => demonstrations),
    pairs: taught.flatMap(({ pairs }) => pairs),
  }
}

async function learnable(
  { options: { store } }: Pick<TrafficRun, 'options'>,
  ids: ReadonlySet<TrajectoryId>,
): Promise<readonly Trajectory[]> {
  const found: Trajectory[] = []
  for (const id of ids) {
    const trajectory = (await store.trajectories.get(id))?.trajectory
    if (trajectory?.origin.kind === 'traffic' && trajectory.origin.train) found.push(trajectory)
  }
  return found
}

/** Tokens of a sequence that the model can read, at most. */
export function limitsOf({ options: { model } }: Pick<TrafficRun, 'options'>): { readonly longest: number } {
  return { longest: model.sampler.capabilities.contextLength }
}
