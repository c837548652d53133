import { backward, type CreditedBatch, policySamples } from '../../../agent/index.ts'
import {
  type ModelService,
  type PolicySample,
  type Rubric,
  savedAt,
  type Store,
  type Trajectory,
  type TrajectoryId,
} from '../../../core/index.ts'
import { InvariantError, present } from '../../../errors/index.ts'
import { byTruth } from '../../../reward/index.ts'
import type { Material } from './learned-from.ts'
import { lagsOf, type Reading, type Shown, shownIn } from '../../../credit/index.ts'
import { endOf } from './settled.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { TrafficRun } from './traffic-run.ts'
import { BATCH, batchOf, decodeBatch, type TrafficBatch } from './used.ts'

/**
 * What weights of the run learn from, read once. Trajectories that were erased since it was gathered are gone, and so are those whose
 * client has forbidden learning since.
 */
export async function materialOf(run: TrafficRun, one: TrainedWeights): Promise<Material> {
  const known = run.materials.get(one.parameter)
  const material = known ?? (await materialIn(run, one, batchOf(await ownBatch(run), one.parameter)))
  run.materials.set(one.parameter, material)
  return material
}

/** What the run gathered. */
export async function ownBatch(run: TrafficRun): Promise<TrafficBatch> {
  const saved = await savedAt(run.options.store.blobs, present(run.blobs[BATCH], "the run's batch"))
  if (!(saved instanceof Uint8Array)) throw new InvariantError('a batch that a trainer keeps')
  return decodeBatch(saved)
}

async function materialIn(run: Learns, one: Learning, batch: TrafficBatch): Promise<Material> {
  const { asOf, temperature, credits } = batch
  const trajectories = await learnable(run, new Set(credits.map(({ trajectory }) => trajectory)), asOf)
  const taught = await taughtIn(run, one, batch)
  return {
    temperature,
    samples: samplesIn(one, { trajectories, credits }),
    practised: new Set(trajectories.map(({ id }) => id)),
    demonstrations: [...taught.values()].flatMap(({ demonstrations }) => demonstrations),
    demonstrated: new Set([...taught].flatMap(([id, { demonstrations }]) => (demonstrations.length > 0 ? [id] : []))),
    pairs: [...taught.values()].flatMap(({ pairs }) => pairs),
  }
}

type Learns = Pick<TrafficRun, 'options' | 'key' | 'models' | 'schedule'>

/** Weights that learn. */
type Learning = Pick<TrainedWeights, 'parameter' | 'model'>

/** What is deposited on weights that learn, without samples that their model cannot read. */
export function samplesIn({ model, parameter }: Learning, batch: CreditedBatch): readonly PolicySample[] {
  const longest = longestOf(model)
  return backward(batch, { parameter, rule: policySamples })
    .flatMap(({ deposits }) => deposits)
    .filter(({ tokens }) => tokens.length <= longest)
}

/** What people showed and preferred in the trajectories of a batch, by the trajectory. */
export async function taughtIn(
  run: Learns,
  one: Learning,
  { asOf, shown, ...labels }: TrafficBatch,
): Promise<ReadonlyMap<TrajectoryId, Shown>> {
  const reading = await readingOf(run, one, asOf, labels)
  const taught = new Map<TrajectoryId, Shown>()
  const heard = new Map(shown.map((one) => [one.trajectory, { keys: new Set(one.signals), most: one.most }]))
  for (const trajectory of await learnable(run, new Set(heard.keys()), asOf)) {
    const counted = heard.get(trajectory.id)
    const signals = (await run.options.store.signals.of(trajectory.id)).filter(({ key }) => counted?.keys.has(key))
    const reward = await reading.rubric.score(trajectory, signals, asOf)
    const { demonstrations, pairs, refused } = await shownIn({ trajectory, reward, signals }, reading)
    taught.set(trajectory.id, {
      demonstrations: demonstrations.slice(0, counted?.most?.demonstrations),
      pairs: pairs.slice(0, counted?.most?.pairs),
      refused,
    })
  }
  return taught
}

/**
 * Those of these trajectories that are still there and may still be learned from, as they were at a moment: a session may
 * go on after it was gathered, and what came then was neither scored nor credited.
 */
export async function learnable(
  { options: { store } }: { readonly options: { readonly store: Pick<Store, 'trajectories'> } },
  ids: ReadonlySet<TrajectoryId>,
  asOf: number,
): Promise<readonly Trajectory[]> {
  const found: Trajectory[] = []
  for (const id of ids) {
    const present = (await store.trajectories.get(id))?.trajectory
    if (present?.origin.kind !== 'traffic' || !present.origin.train) continue
    const then = endOf(present) > asOf ? (await store.trajectories.get(id, asOf))?.trajectory : present
    if (then) found.push(then)
  }
  return found
}

/**
 * How weights of a run read trajectories, as of a moment.
 * @param labels what labels of audits said, as the batch keeps it.
 */
export async function readingOf(
  { options, key, models, schedule }: Learns,
  { parameter, model }: Learning,
  asOf: number,
  labels: LabelsSay = {},
): Promise<Reading> {
  const { store } = options
  return {
    asOf,
    rubric: rubricOf(options, labels),
    ...(labels.factors && { factors: labels.factors }),
    ...(options.source.behaviour ? { behaviour: options.source.behaviour } : {}),
    renderer: model.renderer,
    parameter,
    others: [...models.keys()].filter((name) => name !== parameter),
    lags: await lagsOf(store, key, parameter, options.source.maxLag),
    longest: longestOf(model),
    imitate: schedule.imitate,
  }
}

/** What labels of audits said of signals, and of sessions. */
export type LabelsSay = Pick<TrafficBatch, 'factors' | 'truths'>

/** What sessions are scored by: the truth where it is known, else signals at the worth that labels leave them. */
export function rubricOf({ reward, weighed }: TrafficRun['options'], { factors, truths = [] }: LabelsSay): Rubric {
  const told = new Map(truths.map(({ trajectory, truth }) => [trajectory, truth]))
  return byTruth((factors && weighed?.(factors)) ?? reward, told)
}

/** Tokens of a sequence that the model can read, at most. */
const longestOf = ({ sampler }: ModelService): number => sampler.capabilities.contextLength
