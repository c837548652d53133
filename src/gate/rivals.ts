import type { Json, PairedOutcome } from '../core/index.ts'
import { meanAbove } from './bounded-mean.ts'
import { type Comparison, compareScores, inOrder } from './comparison.ts'
import { boundsOfMean, negated } from './interval.ts'
import type { RewardRange } from './reward-range.ts'
import { round, roundUp } from './round.ts'

/**
 * How a candidate stands against a rival.
 *
 * - `beaten`: the candidate is shown to be better.
 * - `not_better`: it is not, and more tasks would not help: it is shown to be worse, or to be better by less than the
 *   effect worth finding, or it did the same on every task, on so many that better on each would have been shown.
 * - `open`: neither is shown yet.
 */
export type Standing = 'beaten' | 'not_better' | 'open'

/** The comparison of the candidate with one rival. */
export interface RivalTest {
  readonly name: string
  readonly standing: Standing
  /** One sentence that names the rival, with both means. */
  readonly reason: string
  readonly evidence: { readonly [key: string]: Json }
}

/**
 * Compares the candidate with each rival by the one-sided test of "the mean paired difference is at most 0", a missing
 * score counting against the candidate. The strongest rival comes first.
 *
 * Each test is at the whole `alpha`. A candidate must beat all of them, which is an intersection-union test: the
 * hypothesis that it is no better than *some* rival is rejected only if each is, so the probability of a false rejection
 * is at most that of one test, however many rivals there are and however they hang together (R. L. Berger,
 * "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24, 1982, 295–300). A correction would
 * only cost power.
 * @param effect the smallest difference that is worth finding; 0 without one.
 * @throws GateError when a rival has no outcome, a task twice or a score out of range.
 */
export function compareRivals(
  rivals: Readonly<Record<string, readonly PairedOutcome[]>>,
  { range, alpha, effect }: { readonly range: RewardRange; readonly alpha: number; readonly effect: number },
): readonly RivalTest[] {
  return Object.entries(rivals)
    .map(([name, outcomes]) => ({ name, scores: compareScores(inOrder(outcomes), range) }))
    .toSorted((a, b) => lead(a.scores) - lead(b.scores) || (a.name < b.name ? -1 : 1))
    .map(({ name, scores }) => rivalTest(name, scores, alpha, effect))
}

function rivalTest(name: string, scores: Comparison, alpha: number, effect: number): RivalTest {
  const better = roundUp(meanAbove(scores.low, -scores.span, 0))
  const small = roundUp(meanAbove(negated(scores.high), -scores.span, -effect))
  const beaten = better <= alpha
  const settled = small <= alpha || (sameOnEveryTask(scores) && couldShow(scores, alpha))
  const standing = beaten ? 'beaten' : settled ? 'not_better' : 'open'
  const { means } = scores
  return {
    name,
    standing,
    reason: `The candidate ${verbs[standing]} the ${name} policy: ${
      means
        ? `${short(means.candidate)} against ${short(means.baseline)} of ${Math.round(scores.coverage * scores.tasks)} tasks`
        : 'no task has a score of both'
    }.`,
    evidence: {
      standing,
      means: means && { rival: round(means.baseline), candidate: round(means.candidate) },
      difference: means && round(means.candidate - means.baseline),
      interval: boundsOfMean(scores, scores.span, alpha).map(round),
      pValues: { aboveRival: better, belowEffect: small },
      missing: { rival: scores.missing.baseline, candidate: scores.missing.candidate },
    },
  }
}

const verbs: Readonly<Record<Standing, string>> = {
  beaten: 'beats',
  not_better: 'does not beat',
  open: 'is not shown to beat',
}

/** How far the candidate is ahead, with every missing score against it. */
const lead = ({ low }: Comparison) => round(low.reduce((sum, value) => sum + value, 0) / low.length)

const sameOnEveryTask = ({ low, high }: Comparison) => low.every((value) => value === 0) && high.every((v) => v === 0)

/** Whether the tasks are so many that a candidate which is better on each of them is shown to be better. */
const couldShow = ({ low, span }: Comparison, alpha: number) =>
  meanAbove(
    low.map(() => span),
    -span,
    0,
  ) <= alpha

const short = (mean: number) => String(Number(mean.toPrecision(3)))
