import { Gamblers, MEMORY, PRIOR } from '../betting.ts'
import { round } from '../round.ts'

/** What one session says of one quantity. */
export interface Observation {
  readonly candidate: boolean
  /** Probability with which the session got the candidate, in [0, 1]. */
  readonly propensity: number
  /** In [0, 1]; `null` leaves the session out. */
  readonly value: number | null
}

/** Evidence for a difference between the arms; natural logarithms of e-values. */
export interface DifferenceEvidence {
  /** After the last session. */
  readonly now: number
  /** The largest there ever was. */
  readonly most: number
  /** Sessions that were compared. */
  readonly sessions: number
}

/**
 * An always-valid test of "the candidate's mean is at most `margin` above the baseline's": e-values by betting on
 * inverse-propensity-weighted, centred values. It may be looked at after every session: if in every session the
 * difference of the arms' conditional means is at most `margin`, then the e-value ever reaches 1/α with probability at
 * most α (Ville). Nothing is assumed of the values but their range: both arms may drift, sessions may depend on earlier
 * ones, and the propensity may change between sessions, as on a ramp. It rests on the randomised assignment alone.
 *
 * With the session's arm a (1: candidate), value v, probability π of the candidate, q = π/(1 − π), and a mean m of the
 * past only:
 *
 *     Y = a·(v − m) − (1 − a)·(v − m)·q,    E[Y | past] = π·(μ_candidate − μ_baseline)
 *     e ← e · (1 + λ·(Y − π·margin)),       λ ≥ 0 of the past only
 *
 * **Bounds.** v lies in [0, 1], so Y ≥ −m in the candidate's arm and Y ≥ −(1 − m)·q in the baseline's; hence
 * Y − π·margin ≥ −L with L = max(m, (1 − m)·q) + π·max(margin, 0). λ ≤ 1/(2·L) keeps every factor at least 1/2
 * ({@link Gamblers}).
 *
 * **Bets.** Three gamblers with a third of the capital each; one bets on a difference of d standard deviations:
 * λ = d·(1 − π)/σ, cut at the bound, is Kelly's bet for it in the approximation λ = E[Y]/E[Y²], as
 * E[Y] ≈ π·d·σ and E[Y²] ≈ σ²·π/(1 − π). σ is of the past only. The mean of three e-values is one.
 *
 * **What else changes.** Other Parameters may come to serve other Versions while a canary runs, from the sessions
 * themselves if need be: both arms get them at once, and each session's arm was drawn at random, whatever served at that
 * moment. Such a change moves both means, as a drift of the world does, and the statement above allows it. It is about the
 * differences as they were, session by session: a gain before a change and a loss after it are evidence for and against. One
 * that changes by the arm (two Versions, one for each) would be a second candidate, and is none of this test.
 *
 * A higher reward of a candidate's session never lowers the e-value of that session; it may lower those of later ones,
 * whose centre and bets it changes.
 *
 * Sessions that could have had one arm only (π of 0 or 1) compare nothing and are left out, as are those without value:
 * for them the statement is about sessions with a value, and holds if having one does not depend on the arm.
 *
 * Sources: Waudby-Smith & Ramdas 2024 (betting, plug-in bounds); Waudby-Smith, Wu, Ramdas, Karampatziakis & Mineiro
 * 2022 (anytime-valid off-policy inference); Kelly 1956. Chosen by simulation beside aGRAPA: docs/evidence.md.
 *
 * @param observations in an order that depends neither on the sessions' arms nor on what they showed.
 * @param margin in (−1, 1).
 */
export function differenceAbove(observations: readonly Observation[], margin: number): DifferenceEvidence {
  const gamblers = new Gamblers()
  let [mean, variance, sessions] = [0.5, 0.25, 0]
  for (const { candidate, propensity, value } of observations) {
    if (value === null || propensity <= 0 || propensity >= 1) continue
    const odds = propensity / (1 - propensity)
    const centred = value - mean
    const gain = (candidate ? centred : -centred * odds) - propensity * margin
    const largestLoss = Math.max(mean, (1 - mean) * odds) + propensity * Math.max(margin, 0)
    const unit = (1 - propensity) / Math.sqrt(variance)
    gamblers.bet(gain, unit, largestLoss)
    sessions++
    const age = Math.min(sessions, MEMORY)
    variance += (centred ** 2 - variance) / (age + PRIOR.variance)
    mean += centred / (age + PRIOR.mean)
  }
  return { now: round(gamblers.now), most: round(gamblers.most), sessions }
}
