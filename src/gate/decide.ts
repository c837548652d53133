import { normalQuantile, type GateDecision, type HoldoutUse, type Json, type PairedOutcome } from '../core/index.ts'
import { meanAbove } from './bounded-mean.ts'
import { checkRivals, checkSuites, checkUse } from './check-input.ts'
import { type Comparison, compareScores, inOrder, missingMoreOften, worsening } from './comparison.ts'
import type { PairedGateConfig } from './config.ts'
import { boundsOfMean, negated } from './interval.ts'
import { nextUse } from './ledger.ts'
import { levelOfUse, wordsOf } from './retiring.ts'
import { checkRange, type RewardRange } from './reward-range.ts'
import { compareRivals, type RivalTest } from './rivals.ts'
import { round, roundUp } from './round.ts'

/** What a decision is made from. The order of outcomes, suites and rivals does not matter. */
export interface GateInput {
  /** One for each task of the holdout. */
  readonly outcomes: readonly PairedOutcome[]
  /** Outcomes on tasks learned before, by the names of the configuration's `suites`. */
  readonly suites?: Readonly<Record<string, readonly PairedOutcome[]>>
  /**
   * Policies that a candidate must beat too, though none of them serves: outcomes on the same tasks by their names, with
   * the rival's score as `baseline` and the candidate's as `candidate`. A reason calls one "the NAME policy".
   */
  readonly rivals?: Readonly<Record<string, readonly PairedOutcome[]>>
  /** The use of the holdout that the ledger granted: {@link claimHoldout}. */
  readonly use: HoldoutUse
  readonly rewardRange: RewardRange
}

/** What a gate says, what it computed, and why. */
export interface Verdict {
  readonly decision: GateDecision
  readonly evidence: Readonly<Record<string, Json>>
  /** One sentence each, the deciding one first; the others say what else was shown. */
  readonly reasons: readonly string[]
}

/** A row of the truth table. */
interface Rule {
  readonly holds: boolean
  readonly decision: GateDecision
  readonly reason: string
}

/**
 * Decides by the first row that holds. "Shown" is a one-sided test of a mean paired difference ({@link meanAbove}):
 * the primary rows at the alpha of this use, the vetoes each at the configured alpha divided by their number, so that
 * noise vetoes a harmless candidate with probability at most alpha, however many guards there are and however often
 * the holdout was used before. Missing scores count against what is to be shown, in every row; tasks without a guard's
 * metric are left out of that guard, and counted (row 6).
 *
 * | # | when | decision |
 * |---|---|---|
 * | 1 | fewer tasks than `minCoverage` have both scores | need_more_evidence |
 * | 2 | the candidate is shown to miss scores more often than the baseline | need_more_evidence |
 * | 3 | a guard is shown to be worse by more than it allows | reject |
 * | 4 | a suite is shown to be forgotten by more than it allows | reject |
 * | 5 | the difference is shown to be below 0 (below the margin, if that is negative) | reject |
 * | 6 | a guard or a suite has less than `minCoverage` | need_more_evidence |
 * | 7 | a rival is not shown to be beaten, and more tasks would not help: the candidate is shown to be worse than it (with an effect worth finding: better by less than that), or did the same on every task, on so many that better on each would have been shown | hold |
 * | 8 | the difference is shown to be above the margin, and a rival is not shown to be beaten | need_more_evidence |
 * | 9 | the difference is shown to be above the margin, and every rival to be beaten | **promote** |
 * | 10 | the difference is shown to be below the effect worth finding (without one: the margin) | hold |
 * | 11 | otherwise | need_more_evidence |
 *
 * A rival is beaten when the mean paired difference to it is shown to be above 0, at the alpha of this use: a promotion
 * asks for all of it at once, which needs no correction ({@link compareRivals}). So a rival can stop a promotion and
 * never make one.
 *
 * Where the configuration says that a Parameter is retired, the margin is negative: rows 5, 9 and 11 are then a test of
 * non-inferiority, row 10 never holds, and "the alpha of this use" is that of {@link levelOfUse}.
 *
 * A pure function: equal input gives an equal verdict.
 * @throws GateError when the outcomes are not those of the holdout, a task appears twice, a score is out of range, the
 * suites are not those of the configuration, or a rival is compared with another candidate.
 */
export function decide(config: PairedGateConfig, input: GateInput): Verdict {
  const { suites = {}, rivals = {}, use, rewardRange } = input
  const outcomes = inOrder(input.outcomes)
  checkUse(config, outcomes, use)
  checkSuites(config, suites)
  checkRivals(outcomes, rivals)
  checkRange(rewardRange)
  const { margin, minCoverage, power } = config
  const alpha = levelOfUse(config, use)
  const words = wordsOf(config)
  const scores = compareScores(outcomes, rewardRange)
  const vetoAlpha = config.alpha / (1 + Object.keys(config.guards).length + Object.keys(config.suites).length)

  const better = roundUp(meanAbove(scores.low, -scores.span, margin))
  const worseThan = (bound: number) => roundUp(meanAbove(negated(scores.high), -scores.span, -bound))
  const floor = Math.min(0, margin)
  const worth = power?.effect ?? margin
  const [worse, small] = [worseThan(floor), worseThan(worth)]
  const missingMore = roundUp(meanAbove(missingMoreOften(outcomes), -1, 0))
  const vetoes = [...guardVetoes(config, outcomes, vetoAlpha), ...suiteVetoes(config, suites, rewardRange, vetoAlpha)]
  const against = compareRivals(rivals, {
    range: rewardRange,
    alpha,
    effect: Math.max(0, power?.effect ?? 0),
  })
  const standing = (as: RivalTest['standing']) => against.filter((rival) => rival.standing === as)
  const uncovered = vetoes.filter((veto) => veto.coverage < minCoverage)

  const [lower, upper] = boundsOfMean(scores, scores.span, alpha).map(round) as [number, number]
  const interval = `The mean paired difference lies in [${lower.toPrecision(3)}, ${upper.toPrecision(3)}]`
  const rules: Rule[] = [
    {
      holds: scores.coverage < minCoverage,
      decision: 'need_more_evidence',
      reason: `Only ${percent(scores.coverage)} of ${scores.tasks} tasks have a score in both arms; ${percent(minCoverage)} are needed.`,
    },
    {
      holds: missingMore <= vetoAlpha,
      decision: 'need_more_evidence',
      reason: `The candidate's score is missing on ${scores.missing.candidate} tasks and the baseline's on ${scores.missing.baseline}: more than chance, so the arms cannot be compared.`,
    },
    ...vetoes.map(({ shown, reason }): Rule => ({ holds: shown, decision: 'reject', reason })),
    {
      holds: worse <= alpha,
      decision: 'reject',
      reason: `${interval}${words.rejects}`,
    },
    ...uncovered.map(
      ({ name, coverage }): Rule => ({
        holds: true,
        decision: 'need_more_evidence',
        reason: `Only ${percent(coverage)} of the tasks of ${name} can be compared; ${percent(minCoverage)} are needed.`,
      }),
    ),
    ...standing('not_better').map(({ reason }): Rule => ({ holds: true, decision: 'hold', reason })),
    ...standing('open').map(({ reason }): Rule => ({ holds: better <= alpha, decision: 'need_more_evidence', reason })),
    {
      holds: better <= alpha,
      decision: 'promote',
      reason: `${interval}${words.promotes}`,
    },
    {
      // A retirement looks for no gain.
      holds: !config.retiring && small <= alpha,
      decision: 'hold',
      reason: `${interval}: whatever gain there is, is below ${worth}.`,
    },
  ]
  const holding = rules.filter(({ holds }) => holds)
  const deciding = holding[0]
  return {
    decision: deciding?.decision ?? 'need_more_evidence',
    reasons: deciding
      ? holding.map(({ reason }) => reason)
      : [...standing('open').map(({ reason }) => reason), `${interval}${words.open}`],
    evidence: {
      test: 'one-sided test of a bounded mean (Gaffke), exact McNemar for 0/1 scores at margin 0',
      tasks: scores.tasks,
      coverage: round(scores.coverage),
      missing: scores.missing,
      means: scores.means && { baseline: round(scores.means.baseline), candidate: round(scores.means.candidate) },
      difference: scores.means && round(scores.means.candidate - scores.means.baseline),
      interval: [lower, upper],
      alpha,
      pValues: { aboveMargin: better, belowBaseline: worse, belowEffect: small, missingMore },
      vetoAlpha,
      vetoes: Object.fromEntries(vetoes.map(({ name, evidence }) => [name, evidence])),
      ...(against.length > 0 && {
        rivals: Object.fromEntries(against.map(({ name, evidence }) => [name, evidence])),
      }),
      ...(power && { tasksNeeded: tasksNeeded(scores, config, power.effect) }),
    },
  }
}

/** Something that stops a promotion: a guard that got worse or a suite that was forgotten. */
interface Veto {
  readonly name: string
  readonly coverage: number
  readonly shown: boolean
  readonly reason: string
  readonly evidence: Json
}

function guardVetoes(config: PairedGateConfig, outcomes: readonly PairedOutcome[], alpha: number): Veto[] {
  return Object.entries(config.guards).map(([name, guard]) => {
    const values = worsening(outcomes, name, guard)
    const span = guard.range[1] - guard.range[0]
    const pValue = roundUp(meanAbove(values, -span, guard.allowed))
    const interval = boundsOfMean({ low: values, high: values }, span, alpha).map(round)
    return {
      name: `guard ${name}`,
      coverage: values.length / outcomes.length,
      shown: pValue <= alpha,
      reason: `The guard ${name} got worse by at least ${interval[0]} an attempt; ${guard.allowed} is allowed.`,
      evidence: { worsening: interval, allowed: guard.allowed, pValue, tasks: values.length },
    }
  })
}

function suiteVetoes(
  config: PairedGateConfig,
  suites: Readonly<Record<string, readonly PairedOutcome[]>>,
  range: RewardRange,
  alpha: number,
): Veto[] {
  return Object.entries(suites).map(([name, outcomes]) => {
    const allowed = config.suites[name]?.allowed ?? 0
    const scores = compareScores(inOrder(outcomes), range)
    const pValue = roundUp(meanAbove(negated(scores.high), -scores.span, allowed))
    const interval = boundsOfMean(scores, scores.span, alpha).map(round)
    return {
      name: `suite ${name}`,
      coverage: scores.coverage,
      shown: pValue <= alpha,
      reason: `The suite ${name} was forgotten: its mean score changed by ${interval[1]} at best; ${-allowed} is allowed.`,
      evidence: { difference: interval, allowed, pValue, tasks: scores.tasks },
    }
  })
}

/**
 * Tasks of a fresh holdout that would show the effect with probability 0.8, by the normal approximation and the
 * spread seen here; `null` when no two differences differ.
 */
function tasksNeeded({ low }: Comparison, { margin, alpha }: PairedGateConfig, effect: number): number | null {
  const mean = low.reduce((a, b) => a + b, 0) / low.length
  const variance = low.reduce((sum, value) => sum + (value - mean) ** 2, 0) / low.length
  const z = normalQuantile(1 - nextUse([], alpha).alpha) + normalQuantile(0.8)
  return variance === 0 ? null : Math.ceil(variance * (z / (effect - margin)) ** 2)
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
