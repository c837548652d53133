import { z } from 'zod'
import { fitLogistic, sigmoid } from '../../core/index.ts'

/** Turns a score into a probability that can be taken at its word. Rises with the score, never falls. */
export const Calibration = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('platt'), slope: z.number().nonnegative(), intercept: z.number() }),
  /** A staircase: from each score on, up to the next, a line between their values. */
  z.strictObject({
    kind: z.literal('isotonic'),
    scores: z.array(z.number()).min(1),
    values: z.array(z.number().min(0).max(1)).min(1),
  }),
])
export type Calibration = z.infer<typeof Calibration>

/** A score with what was true of it. */
export interface Outcome {
  readonly score: number
  readonly accepted: boolean
  /** How much it counts, > 0. */
  readonly count: number
}

/**
 * A sigmoid over scores (Platt, "Probabilistic Outputs for Support Vector Machines", 1999), with his smoothed targets, so
 * that few examples never give certainty. A score that says the opposite of what is true is given no slope.
 */
export function platt(outcomes: readonly Outcome[]): Calibration {
  const total = (accepted: boolean) =>
    outcomes.reduce((sum, one) => sum + (one.accepted === accepted ? one.count : 0), 0)
  const high = (total(true) + 1) / (total(true) + 2)
  const low = 1 / (total(false) + 2)
  const targets = outcomes.map(({ accepted }) => (accepted ? high : low))
  const counts = outcomes.map(({ count }) => count)
  const { intercept, weights } = fitLogistic({ rows: outcomes.map(({ score }) => [score]), targets, counts }, 0)
  const slope = weights[0] ?? 0
  if (slope > 0) return { kind: 'platt', slope, intercept }
  const flat = fitLogistic({ rows: outcomes.map(() => []), targets, counts }, 0)
  return { kind: 'platt', slope: 0, intercept: flat.intercept }
}

/** The nearest rising staircase, by pooling neighbours that fall (Zadrozny & Elkan, 2002). Wants 1,000 examples or more. */
export function isotonic(outcomes: readonly Outcome[]): Calibration {
  const steps: { from: number; to: number; sum: number; count: number }[] = []
  for (const { score, accepted, count } of outcomes.toSorted((a, b) => a.score - b.score)) {
    const last = steps.at(-1)
    const value = accepted ? count : 0
    if (last !== undefined && last.to === score) {
      last.sum += value
      last.count += count
    } else steps.push({ from: score, to: score, sum: value, count })
  }
  const pooled: typeof steps = []
  for (const step of steps) {
    let here = step
    for (let last = pooled.at(-1); last && last.sum * here.count >= here.sum * last.count; last = pooled.at(-1)) {
      pooled.pop()
      here = { from: last.from, to: here.to, sum: last.sum + here.sum, count: last.count + here.count }
    }
    pooled.push(here)
  }
  const corners = pooled.flatMap(({ from, to, sum, count }) =>
    (from === to ? [from] : [from, to]).map((score) => ({ score, value: sum / count })),
  )
  return { kind: 'isotonic', scores: corners.map(({ score }) => score), values: corners.map(({ value }) => value) }
}

/** The probability that a score stands for; beyond what was seen, that of the last that was. */
export function calibrated(calibration: Calibration, score: number): number {
  if (calibration.kind === 'platt') return sigmoid(calibration.slope * score + calibration.intercept)
  const { scores, values } = calibration
  const above = scores.findIndex((one) => one >= score)
  if (above === -1) return values.at(-1) ?? 0
  const [left = 0, right = 0] = [scores[above - 1] ?? scores[above], scores[above]]
  const [low = 0, high = 0] = [values[above - 1] ?? values[above], values[above]]
  return right === left ? high : low + ((high - low) * (score - left)) / (right - left)
}
