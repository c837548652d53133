import {
  type Demonstration,
  isWhole,
  rng,
  stepsByAction,
  type Trajectory,
  type WeightsAnchoring,
  type WeightsRehearsal,
} from '../../../core/index.ts'
import { anchor as anchorBy, rehearse } from '../../../optimize/weights/index.ts'
import { holdOn } from '../../run/anchor.ts'
import { learnable, materialOf, samplesIn, taughtIn } from './material.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { TrafficRun } from './traffic-run.ts'
import { batchOf, earlierBatches, namedIn, type TrafficBatch } from './used.ts'

/** So many trajectories of earlier runs are read, at least: few make a poor mix. */
const least = 64

/**
 * What is rehearsed beside what this run learns from, drawn for one pass: so much that it is `schedule.replay` of all.
 * @param pass tells apart what is drawn for each.
 */
export async function replayed(run: TrafficRun, one: TrainedWeights, pass: number): Promise<readonly Demonstration[]> {
  const rehearsal = rehearsalIn(run, one)
  if (rehearsal === null) return []
  const random = rng('replay', run.options.seed ?? 0, run.run.id, pass)
  return rehearsal.rehearse({ fresh: await learnedFrom(run, one), earlier: await earlierOf(run, one), rng: random })
}

/** What rehearses: as the sequence says, else as the schedule does. */
function rehearsalIn({ schedule }: TrafficRun, { plan }: TrainedWeights): WeightsRehearsal | null {
  const { replay: share, replayRuns: runs } = schedule
  return plan.rehearsal ?? (share > 0 && runs > 0 ? rehearse({ share, runs }) : null)
}

/** What holds on to earlier weights: as the sequence says, else as the schedule does. */
function anchoringIn({ schedule }: TrafficRun, { plan }: TrainedWeights): WeightsAnchoring | null {
  const { anchor: strength, anchorSequences: sequences, replayRuns: runs } = schedule
  return plan.anchoring ?? (strength > 0 && runs > 0 ? anchorBy({ strength, sequences, runs }) : null)
}

/** How much weights learn from: sequences that they imitate, and trajectories that they only practise on. */
async function learnedFrom(run: TrafficRun, one: TrainedWeights): Promise<number> {
  const { epochs, demonstrationPasses } = run.schedule
  const { demonstrations, demonstrated, practised } = await materialOf(run, one)
  if (demonstrationPasses === 0) return epochs > 0 ? practised.size : 0
  return demonstrations.length + (epochs > 0 ? [...practised].filter((id) => !demonstrated.has(id)).length : 0)
}

/**
 * What earlier runs learned from and is to be kept: what people showed and took, and what went well beside it. Whoever's
 * weights sampled it, it is imitated: the ratios of a policy gradient hold for what is fresh.
 */
async function earlierOf(run: TrafficRun, one: TrainedWeights): Promise<readonly Demonstration[]> {
  const known = run.rehearsals.get(one.parameter)
  if (known) return known
  const [rehearsal, anchoring] = [rehearsalIn(run, one), anchoringIn(run, one)]
  const { share } = rehearsal ?? { share: 0 }
  const wanted = Math.ceil(((await learnedFrom(run, one)) * share) / (1 - share))
  const runs = Math.max(rehearsal?.runs ?? 0, anchoring?.runs ?? 0)
  const earlier: Demonstration[] = []
  if (runs > 0) {
    for (const batch of await drawn(run, one, {
      runs,
      trajectories: Math.max(least, wanted, anchoring?.sequences ?? 0),
    })) {
      const taught = await taughtIn(run, one, batch)
      earlier.push(...[...taught.values()].flatMap(({ demonstrations }) => demonstrations))
      const credits = batch.credits.filter(({ trajectory }) => !taught.get(trajectory)?.demonstrations.length)
      earlier.push(...(await wentWell(run, one, { ...batch, credits })))
    }
  }
  run.rehearsals.set(one.parameter, earlier)
  return earlier
}

/** What earlier runs that are over learned from, drawn for one run: the same whenever it is resumed. */
async function drawn(
  run: TrafficRun,
  { parameter }: TrainedWeights,
  { runs, trajectories }: { readonly runs: number; readonly trajectories: number },
): Promise<readonly TrafficBatch[]> {
  const kept: TrafficBatch[] = []
  for await (const { over, batch } of earlierBatches(run.options.store, run.key, { since: 0, except: run.run.id })) {
    const good = {
      ...batchOf(batch, parameter),
      credits: batch.credits.filter(({ advantage }) => advantage !== null && advantage > 0),
    }
    if (over && batch.asOf <= run.run.startedAt && namedIn(good).size > 0) kept.push(good)
    if (kept.length === runs) break
  }
  const all = kept.flatMap((batch, i) => [...namedIn(batch)].map((id) => ({ i, id })))
  const chosen = rng('replayed', run.options.seed ?? 0, run.run.id)
    .shuffle(all)
    .slice(0, trajectories)
  return kept.map((batch, i) => {
    const ids = new Set(chosen.flatMap((one) => (one.i === i ? [one.id] : [])))
    return {
      ...batch,
      credits: batch.credits.filter(({ trajectory }) => ids.has(trajectory)),
      shown: batch.shown.filter(({ trajectory }) => ids.has(trajectory)),
    }
  })
}

/** Answers that are credited, of conversations that came to their end: half of an answer is no example (invariant 5). */
async function wentWell(
  run: TrafficRun,
  one: TrainedWeights,
  { asOf, credits }: TrafficBatch,
): Promise<readonly Demonstration[]> {
  const trajectories = await learnable(run, new Set(credits.map(({ trajectory }) => trajectory)), asOf)
  const examples = new Map(trajectories.map((trajectory) => [trajectory.id, examplesIn(trajectory)]))
  const good = credits.filter(({ trajectory, decision }) => examples.get(trajectory)?.has(decision))
  return samplesIn(one, { trajectories, credits: good }).map(({ tokens, sampled }) => ({ tokens, learn: sampled }))
}

/** Decisions whose answers may be imitated. */
function examplesIn(trajectory: Trajectory): ReadonlySet<string> {
  if (trajectory.stopReason !== 'done') return new Set()
  const steps = stepsByAction(trajectory)
  const whole = new Set(trajectory.nodes.flatMap((node) => (isWhole([node], steps) ? [node.id] : [])))
  return new Set(trajectory.decisions.flatMap(({ id, output }) => (output !== null && whole.has(output) ? [id] : [])))
}

/** Holds on to the weights that earlier runs need, before this one moves any. */
export const anchor = (run: TrafficRun, one: TrainedWeights): Promise<void> =>
  holdOn(run, one, anchoringIn(run, one), () => earlierOf(run, one))
