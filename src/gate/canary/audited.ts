import type { AuditOutcome, CanaryOutcome } from '../../core/index.ts'
import { type AuditObservation, truthAbove, type TruthEvidence } from '../audit/truth-test.ts'
import { hasJudgeBeside } from '../audit/truth.ts'
import { round } from '../round.ts'
import type { RewardRange } from '../reward-range.ts'
import type { CanaryConfig } from './config.ts'
import type { Observation } from './difference-test.ts'
import { type Estimate, estimateOf } from './estimate.ts'
import { type Overpaid, overpaid } from './goodhart.ts'
import { guardMetric, guardValues, rewards } from './quantities.ts'

/** What the audited sample shows. */
export interface Audited {
  readonly gain: Shown
  readonly harm: Shown
  /** Whether what behaviour pays rose by more than the truth; `null` where that is not tested. */
  readonly overpaid: Overpaid | null
  /** Of the truth, from 0 to 1. */
  readonly estimate: Estimate
  /** Truths that are known, by arm; of them those that cannot be told. */
  readonly labels: { readonly candidate: number; readonly baseline: number; readonly missing: number }
  /** Of a judge that says something of more sessions: how many it was asked about; `null` where there is none. */
  readonly judge: Judged | null
  /** Draws of which truth, or a judge's word, is not told; the sessions after the first of them do not count yet. */
  readonly waiting: number
  /** How the reward went along with the truth: Pearson's correlation over what is known of both; `null` for too few. */
  readonly correlation: number | null
}

interface Judged {
  readonly asked: number
  /** Of them those of which it said nothing that can be read: they are foretold by behaviour. */
  readonly unreadable: number
  /** How its word went along with the truth, as `correlation`. */
  readonly correlation: number | null
}

interface Shown extends Pick<TruthEvidence, 'now' | 'most'> {
  /** Logarithm of the e-value that shows it. */
  readonly bound: number
}

type Drawable = CanaryOutcome & { readonly audit: AuditOutcome }

/**
 * The tests of truth. Sessions are taken in the order in which they began, up to the first draw that waits: which draws are
 * told first may hang on what they showed, and a prefix of a fixed order does not. Truth that cannot be told counts as the
 * worst for the candidate where a gain is to be shown, and as the best where a harm is.
 */
export function audited(
  config: CanaryConfig,
  sessions: readonly CanaryOutcome[],
  range: RewardRange,
  alpha: number,
): Audited | null {
  if (config.audit === null) return null
  const known = untilWaiting(sessions)
  const earned = rewards(known, range)
  const features = featuresOf(config, known, earned)
  const observe = (missing: 'worst' | 'best', side: (truth: number) => number) =>
    known.map((session, i) => observation(session, features[i] ?? [], missing, side))
  const observations = observe('worst', (truth) => truth)
  const gain = truthAbove(observations, config.margin / (range[1] - range[0]))
  const harm = truthAbove(
    observe('best', (truth) => 1 - truth),
    config.tolerance / (range[1] - range[0]),
  )
  const { goodhart } = config
  const told = known.filter(({ audit }) => audit.drawn)
  const candidate = told.filter(({ arm }) => arm === 'candidate').length
  return {
    gain: { ...gain, bound: round(-Math.log(alpha)) },
    harm: { ...harm, bound: round(-Math.log(config.alphaHarm / 2)) },
    overpaid: goodhart && overpaid(goodhart, known, { earned, observations }),
    estimate: estimateOf(gain.terms),
    labels: {
      candidate,
      baseline: told.length - candidate,
      missing: told.filter(({ audit }) => audit.truth === null).length,
    },
    judge: hasJudgeBeside(config.audit) ? judgedIn(known, told) : null,
    waiting: sessions.filter(({ audit }) => audit !== undefined && !audit.settled).length,
    correlation: correlationOf(told, ({ reward }) => reward),
  }
}

function untilWaiting(sessions: readonly CanaryOutcome[]): readonly Drawable[] {
  const drawable = sessions.filter((session): session is Drawable => session.audit !== undefined)
  const first = drawable.findIndex(({ audit }) => !audit.settled)
  return first === -1 ? drawable : drawable.slice(0, first)
}

/** What behaviour shows of each session: its reward, whether it is missing, and its guards' metrics. */
function featuresOf(
  config: CanaryConfig,
  sessions: readonly CanaryOutcome[],
  earned: readonly Observation[],
): readonly (readonly number[])[] {
  const guards = Object.entries(config.guards).map(([name, guard]) =>
    guardValues(guardMetric(sessions, name), guard).map(({ value }) => value ?? 0),
  )
  return earned.map(({ value }, i) => [value ?? 0.5, value === null ? 1 : 0, ...guards.map((values) => values[i] ?? 0)])
}

function observation(
  { arm, propensity, audit: { probability, drawn, truth, judge } }: Drawable,
  features: readonly number[],
  missing: 'worst' | 'best',
  side: (truth: number) => number,
): AuditObservation {
  const candidate = arm === 'candidate'
  const imputed = (missing === 'worst') === candidate ? 0 : 1
  return {
    candidate,
    propensity: candidate ? propensity : 1 - propensity,
    probability,
    drawn,
    truth: side(truth ?? imputed),
    features,
    ...(judge && { judge: { probability: judge.probability, word: judge.asked ? wordOf(judge.word) : null } }),
  }
}

/** One that cannot be read says so, and nothing else. */
const wordOf = (word: number | null): readonly number[] => (word === null ? [0.5, 1] : [word, 0])

function judgedIn(known: readonly Drawable[], told: readonly Drawable[]): Judged {
  const asked = known.filter(({ audit: { judge } }) => judge?.asked)
  return {
    asked: asked.length,
    unreadable: asked.filter(({ audit: { judge } }) => judge?.word === null).length,
    correlation: correlationOf(told, ({ audit: { judge } }) => judge?.word ?? null),
  }
}

const fewestPairs = 10

/** Of something with the truth. */
function correlationOf(sessions: readonly Drawable[], of: (session: Drawable) => number | null): number | null {
  const pairs = sessions.flatMap((session) => {
    const [seen, { truth }] = [of(session), session.audit]
    return seen === null || truth === null ? [] : [[seen, truth] as const]
  })
  if (pairs.length < fewestPairs) return null
  const mean = (of: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[of], 0) / pairs.length
  const [meanReward, meanTruth] = [mean(0), mean(1)]
  let [together, rewardSquares, truthSquares] = [0, 0, 0]
  for (const [reward, truth] of pairs) {
    together += (reward - meanReward) * (truth - meanTruth)
    rewardSquares += (reward - meanReward) ** 2
    truthSquares += (truth - meanTruth) ** 2
  }
  const spread = Math.sqrt(rewardSquares * truthSquares)
  return spread === 0 ? null : round(together / spread)
}
