import type { AuditOutcome, CanaryOutcome } from '../../core/index.ts'
import { type AuditObservation, truthAbove, type TruthEvidence } from '../audit/truth-test.ts'
import { round } from '../round.ts'
import type { CanaryConfig } from './config.ts'
import type { Observation } from './difference-test.ts'
import { type Estimate, estimateDifference, estimateOf } from './estimate.ts'

/** By how much more what behaviour pays rose than the truth. */
export interface Overpaid extends Pick<TruthEvidence, 'now' | 'most'> {
  /** Logarithm of the e-value that shows it. */
  readonly bound: number
  /** The reward's gain minus the truth's, both from 0 to 1. */
  readonly estimate: Estimate
  /** The reward's gain alone, on the same scale; `null` before both arms were seen. */
  readonly rise: number | null
  /** Signals that pay the candidate more than the baseline, and how much more a session: the most first. */
  readonly paid: readonly { readonly signal: string; readonly difference: number }[]
}

/** Signals that are named. */
const MOST_NAMED = 3

/**
 * A test of "the candidate's reward gained at most `margin` more than its truth", which is {@link truthAbove} on
 *
 *     d = (1 + r − v)/2 ∈ [0, 1],    E d_candidate − E d_baseline = (gain of the reward − gain of the truth)/2
 *
 * with r the reward and v the truth, both from 0 to 1. So it is valid at every look, whatever behaviour does, and the rewards
 * of sessions that nobody judged make it sharper. What is missing counts for the candidate: its reward as the least and its
 * truth as the most, the baseline's the other way round.
 *
 * Name: Goodhart 1975, as Strathern 1997 puts it: a measure that becomes a target ceases to be a good measure.
 * @param sessions up to the first draw that waits.
 * @param seen of the same sessions, the rewards from 0 to 1 (`null` where missing), and what a test of truth observes.
 */
export function overpaid(
  { margin, alpha }: NonNullable<CanaryConfig['goodhart']>,
  sessions: readonly (CanaryOutcome & { readonly audit: AuditOutcome })[],
  {
    earned,
    observations,
  }: { readonly earned: readonly Observation[]; readonly observations: readonly AuditObservation[] },
): Overpaid {
  const differences = observations.map((observation, i): AuditObservation => {
    const [least, most] = observation.candidate ? [0, 1] : [1, 0]
    const reward = earned[i]?.value ?? least
    const truth = sessions[i]?.audit.truth ?? most
    return { ...observation, truth: (1 + reward - truth) / 2 }
  })
  const { now, most, terms } = truthAbove(differences, margin / 2)
  return {
    now,
    most,
    bound: round(-Math.log(alpha)),
    estimate: estimateOf(terms.map(({ value, weight }) => ({ value: 2 * value, weight }))),
    rise: estimateDifference(earned).difference,
    paid: paidMore(sessions),
  }
}

function paidMore(sessions: readonly CanaryOutcome[]): Overpaid['paid'] {
  const names = new Set(sessions.flatMap(({ signals }) => Object.keys(signals ?? {})))
  return [...names]
    .flatMap((signal) => {
      const values = sessions.map(({ arm, propensity, signals }): Observation => {
        const candidate = arm === 'candidate'
        return {
          candidate,
          propensity: candidate ? propensity : 1 - propensity,
          value: signals ? (signals[signal] ?? 0) : null,
        }
      })
      const { difference } = estimateDifference(values)
      return difference !== null && difference > 0 ? [{ signal, difference }] : []
    })
    .toSorted((a, b) => b.difference - a.difference || (a.signal < b.signal ? -1 : 1))
    .slice(0, MOST_NAMED)
}
