import { Gamblers, MEMORY, PRIOR } from '../betting.ts'
import { round } from '../round.ts'
import { RunningRegression } from './regression.ts'

/** One session that could have been drawn. */
export interface AuditObservation {
  readonly candidate: boolean
  /** Probability with which the session got the candidate, in [0, 1]. */
  readonly propensity: number
  /** Probability with which it was drawn, in (0, 1], whatever its arm. */
  readonly probability: number
  readonly drawn: boolean
  /** In [0, 1], of one that was drawn; not read otherwise. */
  readonly truth: number
  /** What its behaviour showed, each about from 0 to 1: may foretell the truth, and need not. */
  readonly features: readonly number[]
}

/** Evidence for a difference of the truth between the arms; natural logarithms of e-values. */
export interface TruthEvidence {
  /** After the last session. */
  readonly now: number
  /** The largest there ever was. */
  readonly most: number
  /** Truths that were compared. */
  readonly labels: number
  /** Of them, those after which `bound` was reached first; `null` where it was not, or none was given. */
  readonly shownAfter: number | null
  /** What each session said of the difference, for an estimate: its mean is `weight` times the difference. */
  readonly terms: readonly { readonly value: number; readonly weight: number }[]
}

/**
 * An always-valid test of "the candidate's mean truth is at most `margin` above the baseline's", where truth is known of a
 * random sample only and behaviour is known of all: the betting of `differenceAbove` on the doubly robust value
 *
 *     u = p·(f − m) + R·(v − f),    E[u | past] = p·(E[v] − m)
 *
 * with R: it was drawn, p: with which probability, v: its truth, f: what its behaviour foretells of v, m: a mean. With
 * a: it had the candidate, π: with which probability, q = π/(1 − π):
 *
 *     Y = a·u − (1 − a)·u·q,    E[Y | past] = p·π·(μ_candidate − μ_baseline)
 *     e ← e · (1 + λ·(Y − p·π·margin)),    λ ≥ 0 of the past only
 *
 * f, m and λ are of earlier sessions only. So nothing that behaviour does can make the test wrong: where it foretells the
 * truth u varies less, and fewer labels show the same; where it does not, f comes to be m, and u = R·(v − m).
 *
 * **Bounds.** v lies in [0, 1] and f in [f₀, f₁], so u is at least −max(p·(m − f₀), (1 − p)·f₁ + p·m) and at most
 * max(p·(f₁ − m), 1 − (1 − p)·f₀ − p·m): λ stays below half over the largest loss that follows
 * ({@link Gamblers}).
 *
 * Sources: as `differenceAbove`; Robins, Rotnitzky & Zhao 1994 (the doubly robust value); Angelopoulos, Bates, Fannjiang,
 * Jordan & Zrnic 2023 (prediction-powered inference), Angelopoulos, Duchi & Zrnic 2023 (how far to trust f).
 *
 * @param observations in the order in which sessions began, up to the first draw that waits for its truth.
 * @param margin in (−1, 1).
 * @param bound logarithm of an e-value at which it stops, for who wants to know how soon that is.
 */
export function truthAbove(
  observations: Iterable<AuditObservation>,
  margin: number,
  bound = Number.POSITIVE_INFINITY,
): TruthEvidence {
  const gamblers = new Gamblers()
  let regression: RunningRegression | null = null
  const level = new RunningLevel()
  const terms: { readonly value: number; readonly weight: number }[] = []
  for (const { candidate, propensity, probability: p, drawn, truth, features } of observations) {
    if (propensity <= 0 || propensity >= 1) continue
    const { mean, trust } = level
    const odds = propensity / (1 - propensity)
    regression ??= new RunningRegression(features.length)
    const guess = Math.min(Math.max(mean + regression.predict(features), 0), 1)
    const foretold = mean + trust * (guess - mean)
    const u = p * (foretold - mean) + (drawn ? truth - foretold : 0)
    const [lowest, highest] = [mean * (1 - trust), mean + trust * (1 - mean)]
    const least = Math.max(p * (mean - lowest), (1 - p) * highest + p * mean)
    const greatest = Math.max(p * (highest - mean), 1 - (1 - p) * lowest - p * mean)
    const weight = p * propensity
    const value = candidate ? u : -u * odds
    const gain = value - weight * margin
    const largestLoss = Math.max(least, greatest * odds) + weight * Math.max(margin, 0)
    const unit = ((1 - propensity) * level.deviation) / level.variance
    gamblers.bet(gain, unit, largestLoss)
    terms.push({ value, weight })
    level.see(u, p)
    regression.see(features)
    if (drawn) {
      regression.learn(features, truth - mean)
      level.learn(truth, guess)
    }
    if (gamblers.now >= bound) break
  }
  const { now, most } = gamblers
  const shownAfter = now >= bound ? level.labels : null
  return { now: round(now), most: round(most), labels: level.labels, shownAfter, terms }
}

/** Means and spreads of what was seen so far. */
class RunningLevel {
  mean = 0.5
  /** Of u, for each draw that there was to be. */
  variance = 0.25
  labels = 0
  #spread = 0.25
  #draws = 0
  /** How the guesses moved with the truth, and how much they moved. */
  #together = 0
  #moved = 1

  /** Standard deviation of the truth. */
  get deviation(): number {
    return Math.sqrt(this.#spread)
  }

  /** How far the guesses are to be trusted: the least-squares coefficient of the truth on them, cut to [0, 1]. */
  get trust(): number {
    return Math.min(Math.max(this.#together / this.#moved, 0), 1)
  }

  see(u: number, p: number): void {
    this.#draws = Math.min(this.#draws + p, MEMORY)
    const rate = p / (this.#draws + PRIOR.variance)
    this.variance += (u ** 2 / p - this.variance) * Math.min(rate, 1)
    // A quiet start is no reason to bet everything.
    this.variance = Math.max(this.variance, 1e-4)
  }

  learn(truth: number, guess: number): void {
    this.#together += (guess - this.mean) * (truth - this.mean)
    this.#moved += (guess - this.mean) ** 2
    this.labels++
    const age = Math.min(this.labels, MEMORY)
    const centred = truth - this.mean
    this.#spread += (centred ** 2 - this.#spread) / (age + PRIOR.variance)
    this.mean += centred / (age + PRIOR.mean)
  }
}
