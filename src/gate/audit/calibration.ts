import { z } from 'zod'
import type { CanaryArm, CanaryOutcome } from '../../core/index.ts'
import type { Interval } from '../interval.ts'
import type { RewardRange } from '../reward-range.ts'
import { round } from '../round.ts'
import { solve } from './regression.ts'

/** A session of an audit whose truth is known. */
export interface CalibrationSession {
  readonly arm: CanaryArm
  /** With which it was drawn, in (0, 1]. */
  readonly probability: number
  /** From 0, wrong, to 1, right. */
  readonly truth: number
  /** What each signal that spoke pays, in units of the reward. */
  readonly signals: Readonly<Record<string, number>>
}

const Range = z.tuple([z.number(), z.number()])

/** What a signal tells of the truth, in some of the labels. */
export const SignalTells = z.object({
  labels: z.number(),
  /** Labels of sessions in which it spoke. */
  present: z.number(),
  /** Mean truth of those sessions, and of the others, as a share of all sessions that could be drawn; `null` for none. */
  truthWhenPresent: z.number().nullable(),
  truthWhenAbsent: z.number().nullable(),
  /** Of what it pays (0 where it is silent) with the truth, with a 95 % interval; `null` where it or the truth never differs. */
  correlation: z.number().nullable(),
  interval: Range.nullable(),
})
export type SignalTells = z.infer<typeof SignalTells>

/** How well one signal of behaviour predicts the truth. */
export const SignalWorth = SignalTells.extend({
  signal: z.string(),
  /** The part of what it pays that the truth bears out, beside the other signals, and its 95 % interval. */
  estimate: z.number(),
  estimateInterval: Range,
  /** What learning multiplies its pay by, from 0 to 2: 1 until the labels contradict it. */
  factor: z.number(),
  baseline: SignalTells,
  candidate: SignalTells,
  /** The first and the second half of the labels. */
  earlier: SignalTells,
  later: SignalTells,
})
export type SignalWorth = z.infer<typeof SignalWorth>

/** What labels say of the signals, by name. */
export const Calibration = z.object({ labels: z.number(), signals: z.array(SignalWorth) })
export type Calibration = z.infer<typeof Calibration>

/**
 * Strength of the prior that a signal is worth what it pays, in squared units of pay: as much as 5 sessions with a signal
 * that pays ±1, and as 80 of which half have one that pays 0.5.
 */
export const PRIOR_STRENGTH = 5
/** A signal is never turned around, as that would teach to displease, and never more than doubled. */
const [LEAST, MOST] = [0, 2]
const Z95 = 1.959964

/**
 * How well each signal predicts the truth, from labels of random draws. Let y be the truth on the scale of rewards, xₖ what
 * signal k pays (0 where it is silent) and ω = 1/p, scaled so that Σω is Kish's effective number of labels n. The factors m
 * minimise
 *
 *     Σ ω·(y − ȳ − Σₖ mₖ·(xₖ − x̄ₖ))² + κ·Σₖ (mₖ − 1)²
 *
 * (ridge regression towards 1: Gaussian posterior means; κ is {@link PRIOR_STRENGTH}). Their interval is ±1.96 posterior
 * standard deviations, with a residual variance that begins at that of one half right, with the weight of κ labels. A factor
 * stays exactly 1 while its interval holds 1: few labels change nothing. The intervals are asymptotic and of one time: they
 * steer learning, and promote nothing.
 *
 * A pure function. Sources: Hájek 1971 (weighting by inverse probability); Kish 1965 (effective sample size); Fisher 1915
 * (interval of a correlation).
 * @param sessions in the order in which they began.
 * @param range of rewards: from what is wrong to what is right.
 */
export function calibrate(sessions: readonly CalibrationSession[], range: RewardRange): Calibration {
  const names = [...new Set(sessions.flatMap(({ signals }) => Object.keys(signals)))].toSorted()
  const half = Math.ceil(sessions.length / 2)
  const parts = {
    baseline: sessions.filter(({ arm }) => arm === 'baseline'),
    candidate: sessions.filter(({ arm }) => arm === 'candidate'),
    earlier: sessions.slice(0, half),
    later: sessions.slice(half),
  }
  const factors = factorsOf(sessions, names, range)
  return {
    labels: sessions.length,
    signals: names.map((signal, k) => {
      const { estimate, deviation } = factors[k] ?? { estimate: 1, deviation: 0 }
      const [low, high] = [estimate - Z95 * deviation, estimate + Z95 * deviation]
      return {
        signal,
        ...tellsOf(sessions, signal),
        estimate: round(estimate),
        estimateInterval: [round(low), round(high)],
        factor: low <= 1 && 1 <= high ? 1 : round(Math.min(Math.max(estimate, LEAST), MOST)),
        baseline: tellsOf(parts.baseline, signal),
        candidate: tellsOf(parts.candidate, signal),
        earlier: tellsOf(parts.earlier, signal),
        later: tellsOf(parts.later, signal),
      }
    }),
  }
}

/** The factors that are not 1, by the signal. */
export function factorsIn({ signals }: Calibration): Readonly<Record<string, number>> {
  return Object.fromEntries(signals.flatMap(({ signal, factor }) => (factor === 1 ? [] : [[signal, factor]])))
}

/** Sessions of an audit whose truth is known and whose signals were kept, as a calibration takes them. */
export function calibrationSessions(sessions: readonly CanaryOutcome[]): readonly CalibrationSession[] {
  return sessions.flatMap(({ arm, audit, signals }) =>
    audit?.drawn && audit.truth !== null && signals
      ? [{ arm, probability: audit.probability, truth: audit.truth, signals }]
      : [],
  )
}

function factorsOf(
  sessions: readonly CalibrationSession[],
  names: readonly string[],
  [low, high]: RewardRange,
): readonly { readonly estimate: number; readonly deviation: number }[] {
  const weights = weightsOf(sessions)
  const targets = centred(
    sessions.map(({ truth }) => low + (high - low) * truth),
    weights,
  )
  const columns = names.map((name) => centred(paidBy(sessions, name), weights))
  const size = names.length
  const gram = new Float64Array(size * size)
  for (let j = 0; j < size; j++) {
    for (let k = 0; k < size; k++) {
      gram[j * size + k] = product(columns[j] ?? [], columns[k] ?? [], weights) + (j === k ? PRIOR_STRENGTH : 0)
    }
  }
  const moments = columns.map((column) => product(column, targets, weights) + PRIOR_STRENGTH)
  const estimates = solve(gram, Float64Array.from(moments), size)
  const residuals = targets.map((y, i) =>
    columns.reduce((rest, column, k) => rest - (estimates[k] ?? 0) * (column[i] ?? 0), y),
  )
  const usual = ((high - low) / 2) ** 2
  const labels = weights.reduce((sum, weight) => sum + weight, 0)
  const variance = (product(residuals, residuals, weights) + PRIOR_STRENGTH * usual) / (labels + PRIOR_STRENGTH)
  return names.map((_, k) => {
    const unit = new Float64Array(size)
    unit[k] = 1
    return { estimate: estimates[k] ?? 1, deviation: Math.sqrt(variance * (solve(gram, unit, size)[k] ?? 0)) }
  })
}

function tellsOf(sessions: readonly CalibrationSession[], name: string): SignalTells {
  const spoke = sessions.filter(({ signals }) => Object.hasOwn(signals, name))
  const silent = sessions.filter(({ signals }) => !Object.hasOwn(signals, name))
  return {
    labels: sessions.length,
    present: spoke.length,
    truthWhenPresent: meanTruth(spoke),
    truthWhenAbsent: meanTruth(silent),
    ...correlationOf(sessions, name),
  }
}

function meanTruth(sessions: readonly CalibrationSession[]): number | null {
  if (sessions.length === 0) return null
  const truths = sessions.map(({ truth }) => truth)
  return round(meanOf(truths, weightsOf(sessions)))
}

function correlationOf(
  sessions: readonly CalibrationSession[],
  name: string,
): Pick<SignalTells, 'correlation' | 'interval'> {
  const weights = weightsOf(sessions)
  const paid = centred(paidBy(sessions, name), weights)
  const truths = centred(
    sessions.map(({ truth }) => truth),
    weights,
  )
  const spread = Math.sqrt(product(paid, paid, weights) * product(truths, truths, weights))
  if (!(spread > 1e-9)) return { correlation: null, interval: null }
  const correlation = Math.min(Math.max(product(paid, truths, weights) / spread, -1), 1)
  const labels = weights.reduce((sum, weight) => sum + weight, 0)
  return { correlation: round(correlation), interval: labels > 3 ? fisher(correlation, labels) : null }
}

function fisher(correlation: number, labels: number): [number, number] {
  const radius = Z95 / Math.sqrt(labels - 3)
  const at = Math.atanh(correlation)
  const [low, high]: Interval = [Math.tanh(at - radius), Math.tanh(at + radius)]
  return [round(low), round(high)]
}

const paidBy = (sessions: readonly CalibrationSession[], name: string): readonly number[] =>
  sessions.map(({ signals }) => (Object.hasOwn(signals, name) ? (signals[name] ?? 0) : 0))

/** Inverse probabilities, that sum to Kish's effective number of labels. */
function weightsOf(sessions: readonly CalibrationSession[]): readonly number[] {
  const raw = sessions.map(({ probability }) => 1 / probability)
  const [sum, squares] = [raw.reduce((all, one) => all + one, 0), raw.reduce((all, one) => all + one ** 2, 0)]
  return raw.map((weight) => (weight * sum) / squares)
}

function meanOf(values: readonly number[], weights: readonly number[]): number {
  const sum = values.reduce((all, value, i) => all + value * (weights[i] ?? 0), 0)
  return sum / weights.reduce((all, weight) => all + weight, 0)
}

function centred(values: readonly number[], weights: readonly number[]): readonly number[] {
  const mean = meanOf(values, weights)
  return values.map((value) => value - mean)
}

function product(a: readonly number[], b: readonly number[], weights: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0) * (weights[i] ?? 0), 0)
}
