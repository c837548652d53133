import {
  type Credit,
  type CreditEstimator,
  type DecisionId,
  groupAttempts,
  type ParameterName,
  type Repositories,
  type ReviewedTrajectory,
  rng,
  type Rubric,
  type Trajectory,
} from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { Contribution, Factors, LimitedEvidence, SessionEvidence, SharedOut } from '../../../reward/index.ts'
import type { DropReason, EvidenceReport } from './evidence-report.ts'
import { commonTemperature, type Fit } from './fit.ts'
import { type IsInContext, lagOf, type Lags, type Shown } from '../../../credit/index.ts'
import { endOf, type Settled, settledOf, type Window } from './settled.ts'
import type { TrafficBatch } from './used.ts'
import { withEarned } from '../../run/earned.ts'

/** Takes away what reporters decide beyond their share: of all sessions, and of what a run learns from in them. */
export interface ReporterLimit {
  readonly sessions: (
    evidence: readonly SessionEvidence[],
  ) => Pick<LimitedEvidence<SessionEvidence>, 'evidence' | 'leftOut'>
  readonly shareOut: (contributions: readonly Contribution[]) => SharedOut
}

/** Who had more than their share, of which part of the evidence. */
export interface Flood extends Pick<LimitedEvidence<SessionEvidence>, 'leftOut'> {
  readonly excess: Readonly<Record<'practised' | 'demonstrations' | 'pairs', SharedOut['excess']>>
}

/** What gathering needs to know, whatever learns. */
export interface Gathering extends Window {
  readonly store: Pick<Repositories, 'trajectories' | 'signals'>
  readonly reward: Rubric
  /** What signals' worth is multiplied by in it, to be kept with the batch. */
  readonly factors?: Factors
  readonly credit: CreditEstimator
  readonly reporters: ReporterLimit
}

/** A Parameter that learns, and what of its decisions it learns from. */
export interface Gatherer {
  readonly parameter: ParameterName
  readonly lags: Lags
  /** Releases that the Version which decided may be older than what serves. */
  readonly maxLag: number
  /** Which of the Parameter's decisions in a trajectory can be learned from. */
  readonly fit: (trajectory: Trajectory, parameter: ParameterName) => Fit
  /** Whether everything else that acted in a trajectory is what serves now. Default: nothing else acts. */
  readonly isInContext?: IsInContext
  /** Whether what an episode earned counts as well, and not only how it compares. Default: it does not. */
  readonly earned?: boolean
  /** What people showed and preferred in a trajectory. */
  readonly shownIn: (evidence: ReviewedTrajectory) => Promise<Shown>
}

/** How much a session shows. */
interface Taught {
  readonly evidence: ReviewedTrajectory
  readonly demonstrations: number
  readonly pairs: number
}

interface Fresh extends ReviewedTrajectory {
  readonly lag: number
  readonly temperatures: ReadonlyMap<DecisionId, number>
}

/** What was gathered for one Parameter. */
export interface Gathered {
  readonly batch: TrafficBatch
  readonly report: EvidenceReport
  readonly flood: Flood
  /** The sessions that are fresh evidence. */
  readonly fresh: readonly ReviewedTrajectory[]
}

/**
 * Reads the settled traffic of an agent once, scores it, and credits for each that learns what is fresh evidence of how its
 * Version that serves decides: groups of one, compared with their batch. What is left out is counted by reason.
 */
export async function gather(gathering: Gathering, gatherers: readonly Gatherer[]): Promise<readonly Gathered[]> {
  const fresh = gatherers.map(
    (gatherer) => async (trajectory: Trajectory) => typeof (await lagIn(trajectory, gatherer)) === 'number',
  )
  const settled = await settledOf(gathering, fresh)
  const gathered: Gathered[] = []
  for (const [i, gatherer] of gatherers.entries()) {
    gathered.push(await gatherOne({ ...gathering, ...gatherer }, present(settled[i], 'what is settled')))
  }
  return gathered
}

async function gatherOne(gathering: Gathering & Gatherer, settled: Settled): Promise<Gathered> {
  const { asOf, reward, shownIn, reporters, factors } = gathering
  const weighed = factors && { factors }
  const dropped = new Map(settled.dropped)
  const drop = (reason: DropReason) => dropped.set(reason, (dropped.get(reason) ?? 0) + 1)

  const { evidence: heard, leftOut } = reporters.sessions(await signalsOf(gathering, settled.trajectories))
  for (let i = heard.length; i < settled.trajectories.length; i++) drop('over-share')
  const taught: Taught[] = []
  const fresh: Fresh[] = []
  let unknownTools = 0
  for (const { trajectory, signals } of heard) {
    const evidence = { trajectory, signals, reward: await reward.score(trajectory, signals, asOf) }
    const { demonstrations, pairs, refused } = await shownIn(evidence)
    unknownTools += refused
    taught.push({ evidence, demonstrations: demonstrations.length, pairs: pairs.length })
    const one = await freshness(evidence, gathering)
    if (typeof one === 'string') drop(one)
    else fresh.push(one)
  }

  const temperature = commonTemperature(fresh)
  const fitting = fresh.filter((one) => {
    const fits = [...one.temperatures.values()].includes(temperature ?? Number.NaN)
    if (!fits) drop('other-temperature')
    return fits
  })
  const shared = reporters.shareOut(fitting.map((session) => ({ session, amount: 1 })))
  const kept = fitting.filter((_, i) => {
    const counts = shared.amounts[i] === 1
    if (!counts) drop('over-share')
    return counts
  })
  const lessons = lessonsOf(taught, reporters)
  const credits = await creditsOf(kept, temperature, gathering)
  const batch: TrafficBatch = { asOf, temperature, ...weighed, credits, shown: lessons.shown }
  const report: EvidenceReport = {
    asOf,
    seen: settled.seen,
    sessions: kept.length,
    credited: credits.length,
    ...lessons.counts,
    unknownTools,
    dropped: Object.fromEntries(dropped),
    flood: leftOut.reduce((sum, one) => sum + one.leftOut.signals, 0),
    ...rewardsOf(kept),
    ...agesOf(kept, asOf),
    ...weighed,
  }
  return { batch, report, flood: { leftOut, excess: { practised: shared.excess, ...lessons.excess } }, fresh: kept }
}

/** How much of what sessions show counts, and in which of them some does. */
function lessonsOf(taught: readonly Taught[], { shareOut }: ReporterLimit) {
  const shared = (part: 'demonstrations' | 'pairs') =>
    shareOut(taught.map((one) => ({ session: one.evidence, amount: one[part] })))
  const [demonstrations, pairs] = [shared('demonstrations'), shared('pairs')]
  const shown = taught.flatMap(({ evidence: { trajectory, signals } }, i): TrafficBatch['shown'] => {
    const most = { demonstrations: demonstrations.amounts[i] ?? 0, pairs: pairs.amounts[i] ?? 0 }
    const keys = signals.map(({ key }) => key)
    return most.demonstrations + most.pairs > 0 ? [{ trajectory: trajectory.id, signals: keys, most }] : []
  })
  return {
    shown,
    counts: { demonstrations: sum(demonstrations.amounts), pairs: sum(pairs.amounts) },
    excess: { demonstrations: demonstrations.excess, pairs: pairs.excess },
  }
}

const sum = (amounts: readonly number[]) => amounts.reduce((all, amount) => all + amount, 0)

async function signalsOf(
  { store, asOf }: Gathering,
  trajectories: readonly Trajectory[],
): Promise<readonly SessionEvidence[]> {
  const evidence: SessionEvidence[] = []
  for (const trajectory of trajectories) {
    const signals = (await store.signals.of(trajectory.id)).filter(({ at }) => at <= asOf)
    evidence.push({ trajectory, signals })
  }
  return evidence
}

/** How long ago the weights served that decided in a trajectory, among what serves now; else why it is no fresh evidence. */
async function lagIn(
  trajectory: Trajectory,
  { parameter, lags, maxLag, isInContext }: Gatherer,
): Promise<number | DropReason> {
  const lag = lagOf(trajectory, parameter, lags, maxLag)
  if (typeof lag === 'string' || !isInContext) return lag
  return (await isInContext(trajectory)) ? lag : 'other-context'
}

async function freshness(evidence: ReviewedTrajectory, gathering: Gatherer): Promise<Fresh | DropReason> {
  const { trajectory, reward } = evidence
  const lag = await lagIn(trajectory, gathering)
  if (typeof lag === 'string') return lag
  if (reward.status === 'missing') return 'missing-reward'
  const { temperatures, unfit } = gathering.fit(trajectory, gathering.parameter)
  return temperatures.size === 0 ? (unfit ?? 'no-logprobs') : { ...evidence, lag, temperatures }
}

async function creditsOf(
  fresh: readonly Fresh[],
  temperature: number | null,
  { credit: estimator, earned = false, asOf, parameter, reward }: Gathering & Gatherer,
): Promise<TrafficBatch['credits']> {
  const drawn = new Map(fresh.map((one) => [one.trajectory.id, one.temperatures]))
  const { credits } = await estimator.credit(groupAttempts(fresh), {
    signals: new Map(fresh.map(({ trajectory, signals }) => [trajectory.id, signals])),
    rng: rng('credit', parameter, asOf),
    asOf,
  })
  const all = earned ? withEarned(credits, fresh, reward) : credits.filter(({ advantage }) => advantage !== null)
  return all.flatMap(({ trajectory, decision, advantage, utility, charged, vetoed }: Credit) => {
    const fits = drawn.get(trajectory)?.get(decision) === temperature
    const charge = charged !== undefined && { charged }
    const earns = { ...(utility !== undefined && { utility }), ...charge, ...(vetoed && { vetoed }) }
    return fits ? [{ trajectory, decision, advantage, ...earns }] : []
  })
}

function rewardsOf(fresh: readonly Fresh[]): Pick<EvidenceReport, 'meanReward' | 'vetoed' | 'vetoedBy'> {
  const guards = fresh.flatMap(({ reward }) => (reward.status === 'vetoed' ? [reward.guard] : []))
  const vetoedBy: Record<string, number> = {}
  for (const guard of guards) vetoedBy[guard] = (vetoedBy[guard] ?? 0) + 1
  const values = fresh.flatMap(({ reward: { value } }) => (value === null ? [] : [value]))
  return {
    meanReward: values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length,
    vetoed: guards.length,
    vetoedBy,
  }
}

function agesOf(fresh: readonly Fresh[], asOf: number): Pick<EvidenceReport, 'age' | 'lags'> {
  const ages = fresh.map(({ trajectory }) => (asOf - endOf(trajectory)) / 1000).toSorted((a, b) => a - b)
  const [newest, median, oldest] = [ages[0], ages[ages.length >> 1], ages.at(-1)]
  const lags: Record<string, number> = {}
  for (const { lag } of fresh) lags[lag] = (lags[lag] ?? 0) + 1
  const known = newest !== undefined && median !== undefined && oldest !== undefined
  return { age: known ? { newest, median, oldest } : null, lags }
}
