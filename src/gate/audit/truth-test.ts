import { Gamblers, MEMORY, PRIOR } from '../betting.ts'
import { round } from '../round.ts'
import { Foreteller, type ForetoldBounds } from './foretold.ts'

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
  /** What a judge said of it, where one is asked about a random part of the sessions; left out where there is no judge. */
  readonly judge?: Asked
}

/** Whether a judge was asked about a session. Those whose truth is asked for are among those that it is asked about. */
export interface Asked {
  /** Probability with which it was, in [`probability` of the session, 1], whatever its arm. */
  readonly probability: number
  /** What it said, each about from 0 to 1; `null`: it was not asked. */
  readonly word: readonly number[] | null
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
 * **A judge** that is asked about sessions with probability p₁ ≥ p (A: it was), those with R among them, says something more:
 * f₁ is what it and behaviour foretell together, f what behaviour does alone, and with p₂ = p/p₁
 *
 *     u = p·(f − m) + A·p₂·(f₁ − f) + R·(v − f₁),    E[u | past] = p·(E[v] − m) again
 *
 * Its word is one covariate more, known of more sessions than their truth: a judge that is wrong, or favours an arm, costs
 * sharpness and nothing else.
 *
 * **Bounds.** v lies in [0, 1] and f in [l, h], so u is at least −max(p·(m − l), (1 − p)·h + p·m) and at most
 * max(p·(h − m), 1 − (1 − p)·l − p·m) (with a judge {@link ofBoth}): λ stays below half over the largest loss that follows
 * ({@link Gamblers}).
 *
 * Sources: as `differenceAbove`; Robins, Rotnitzky & Zhao 1994 (the doubly robust value); Angelopoulos, Bates, Fannjiang,
 * Jordan & Zrnic 2023 (prediction-powered inference), Angelopoulos, Duchi & Zrnic 2023 (how far to trust f); Neyman 1938
 * (sampling in two phases).
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
  let behaviour: Foreteller | null = null
  let judge: Foreteller | null = null
  const level = new RunningLevel()
  const terms: { readonly value: number; readonly weight: number }[] = []
  for (const { candidate, propensity, probability: p, drawn, truth, features, judge: asked } of observations) {
    if (propensity <= 0 || propensity >= 1) continue
    const { mean } = level
    const odds = propensity / (1 - propensity)
    behaviour ??= new Foreteller(features.length)
    const foretold = behaviour.foretell(features, mean)
    const told = drawn ? truth : null
    const both = asked?.word ? [...features, ...asked.word] : null
    if (both) judge ??= new Foreteller(both.length)
    const byJudge = (both && judge?.foretell(both, mean)) ?? null
    const said = { ...behaviour.bounds(mean), value: foretold.value, p, mean, told }
    const { u, least, greatest } = asked
      ? ofBoth(said, { asked: asked.probability, by: byJudge?.value ?? null, bounds: judge?.bounds(mean) ?? null })
      : ofBehaviour(said)
    const weight = p * propensity
    const value = candidate ? u : -u * odds
    const gain = value - weight * margin
    const largestLoss = Math.max(least, greatest * odds) + weight * Math.max(margin, 0)
    const unit = ((1 - propensity) * level.deviation) / level.variance
    gamblers.bet(gain, unit, largestLoss)
    terms.push({ value, weight })
    level.see(u, p)
    behaviour.see(features)
    if (both) judge?.see(both)
    if (drawn) {
      behaviour.learn(features, truth, { guess: foretold.guess, mean })
      if (both && byJudge) judge?.learn(both, truth, { guess: byJudge.guess, mean })
      level.learn(truth)
    }
    if (gamblers.now >= bound) break
  }
  const { now, most } = gamblers
  const shownAfter = now >= bound ? level.labels : null
  return { now: round(now), most: round(most), labels: level.labels, shownAfter, terms }
}

/** What one session says, and the least and the most that it could have said, both from 0 up. */
interface Said {
  readonly u: number
  readonly least: number
  readonly greatest: number
}

/** What behaviour foretells of it, and its truth. */
interface Drawn extends ForetoldBounds {
  readonly value: number
  /** Probability with which its truth is asked for. */
  readonly p: number
  readonly mean: number
  /** `null` where it was not. */
  readonly told: number | null
}

function ofBehaviour({ value, lowest, highest, p, mean, told }: Drawn): Said {
  return {
    u: p * (value - mean) + (told === null ? 0 : told - value),
    least: Math.max(p * (mean - lowest), (1 - p) * highest + p * mean),
    greatest: Math.max(p * (highest - mean), 1 - (1 - p) * lowest - p * mean),
  }
}

/**
 * The same where a judge is asked about some: one that was not asked is foretold by behaviour; of one that was u is
 * (p − p₂)·f + p₂·f₁ − p·m, or with its truth v + (p − p₂)·f − (1 − p₂)·f₁ − p·m. The bounds hold for all three, as they must
 * not hang on whether it was asked.
 */
function ofBoth(
  { value, lowest, highest, p, mean, told }: Drawn,
  judge: { readonly asked: number; readonly by: number | null; readonly bounds: ForetoldBounds | null },
): Said {
  const second = Math.min(p / judge.asked, 1)
  const rest = second - p
  // One that has said nothing yet foretells the mean.
  const bounds = judge.bounds ?? { lowest: mean, highest: mean }
  const u =
    p * (value - mean) +
    (judge.by === null ? 0 : second * (judge.by - value)) +
    (told === null ? 0 : told - (judge.by ?? value))
  const asked = rest * highest - second * bounds.lowest
  const labelled = rest * highest + (1 - second) * bounds.highest
  return {
    u,
    least: p * mean + Math.max(-p * lowest, asked, labelled),
    greatest:
      Math.max(p * highest, second * bounds.highest - rest * lowest, 1 - rest * lowest - (1 - second) * bounds.lowest) -
      p * mean,
  }
}

/** Means and spreads of what was seen so far. */
class RunningLevel {
  mean = 0.5
  /** Of u, for each draw that there was to be. */
  variance = 0.25
  labels = 0
  #spread = 0.25
  #draws = 0

  /** Standard deviation of the truth. */
  get deviation(): number {
    return Math.sqrt(this.#spread)
  }

  see(u: number, p: number): void {
    this.#draws = Math.min(this.#draws + p, MEMORY)
    const rate = p / (this.#draws + PRIOR.variance)
    this.variance += (u ** 2 / p - this.variance) * Math.min(rate, 1)
    // A quiet start is no reason to bet everything.
    this.variance = Math.max(this.variance, 1e-4)
  }

  learn(truth: number): void {
    this.labels++
    const age = Math.min(this.labels, MEMORY)
    const centred = truth - this.mean
    this.#spread += (centred ** 2 - this.#spread) / (age + PRIOR.variance)
    this.mean += centred / (age + PRIOR.mean)
  }
}
