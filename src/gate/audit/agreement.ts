import { z } from 'zod'
import { type Audit, type AuditDraw, groupBy } from '../../core/index.ts'
import { round } from '../round.ts'
import { alikeReviewers, type Told, toldBy } from './alike.ts'
import { cohen, medianOf } from './kappa.ts'

/** How one reviewer judges. */
export const ReviewerStanding = z.object({
  reviewer: z.string(),
  /** Draws that they judged; those of which they said that it cannot be told are not among them. */
  labels: z.number(),
  untold: z.number(),
  /** Mean of what they said; `null` for nothing. */
  mean: z.number().nullable(),
  /** Of the labels on draws that others judged too, the share that was what the others' median was; `null` for none. */
  agrees: z.number().nullable(),
  /** Says the same of everything, as often as hardly anybody would who looks. */
  alike: z.boolean(),
})
export type ReviewerStanding = z.infer<typeof ReviewerStanding>

/** How reviewers agree. */
export const Agreement = z.object({
  /** Draws that several judged. */
  shared: z.number(),
  /**
   * Krippendorff's alpha for interval data over all reviewers: 1 for full agreement, 0 for what chance gives; `null` where
   * nothing was judged twice, or nothing differs.
   */
  alpha: z.number().nullable(),
  /** Cohen's kappa of each two who judged the same draws, with labels rounded to right and wrong. */
  pairs: z.array(z.object({ a: z.string(), b: z.string(), draws: z.number(), kappa: z.number().nullable() })),
  /** Those who judged most first. */
  reviewers: z.array(ReviewerStanding),
  /** Reviewers who are left out, as there are more than are compared. */
  others: z.number(),
})
export type Agreement = z.infer<typeof Agreement>

/** Reviewers who are compared: names cost nothing, and pairs grow with their square. */
const mostCompared = 20

/** How reviewers of draws agree; labels that were taken back do not count. */
export function agreementOf(draws: readonly AuditDraw[], audit: Pick<Audit, 'by'>): Agreement {
  const all = toldBy(draws, audit)
  const ranked = [...all].toSorted(([a, one], [b, other]) => other.told.length - one.told.length || (a < b ? -1 : 1))
  const compared = ranked.slice(0, mostCompared)
  const told = [...all.values()].flatMap((one) => one.told)
  const truths = groupBy(told, ({ draw }) => draw)
  const shared = [...truths.values()].filter(({ length }) => length > 1)
  const alike = new Set(alikeReviewers(all).map(({ reviewer }) => reviewer))
  const byDraw = compared.map(([, one]) => new Map(one.told.map(({ draw, truth }) => [draw, truth])))
  const pairs = compared.flatMap(([a], i) =>
    compared.slice(i + 1).flatMap(([b], j) => pairOf(a, b, byDraw[i] ?? new Map(), byDraw[i + 1 + j] ?? new Map())),
  )
  return {
    shared: shared.length,
    alpha: krippendorff(shared.map((group) => group.map(({ truth }) => truth))),
    pairs,
    reviewers: compared.map(([reviewer, one]) => ({
      reviewer,
      labels: one.told.length,
      untold: one.untold,
      mean: meanOf(one.told),
      agrees: agreesOf(reviewer, one.told, truths),
      alike: alike.has(reviewer),
    })),
    others: ranked.length - compared.length,
  }
}

/**
 * Krippendorff's alpha with the squared difference: 1 − observed over expected disagreement, of units that have several
 * values each (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").
 */
export function krippendorff(units: readonly (readonly number[])[]): number | null {
  const values = units.filter(({ length }) => length > 1)
  const all = values.flat()
  if (all.length === 0) return null
  let observed = 0
  for (const unit of values) observed += pairsOf(unit) / (unit.length - 1)
  const expected = pairsOf(all) / (all.length - 1)
  return expected === 0 ? null : round(1 - observed / expected)
}

/** Sum of squared differences over ordered pairs. */
function pairsOf(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0)
  const squares = values.reduce((total, value) => total + value ** 2, 0)
  return 2 * (values.length * squares - sum ** 2)
}

function pairOf(
  a: string,
  b: string,
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): Agreement['pairs'] {
  const both = [...one].flatMap(([draw, truth]) => {
    const beside = other.get(draw)
    return beside === undefined ? [] : [[Math.round(truth), Math.round(beside)] as const]
  })
  if (both.length === 0) return []
  const [first, second] = a < b ? [a, b] : [b, a]
  return [{ a: first, b: second, draws: both.length, kappa: cohen(both) }]
}

function agreesOf(reviewer: string, own: readonly Told[], truths: ReadonlyMap<string, readonly Told[]>): number | null {
  const beside = own.flatMap(({ draw, truth }) => {
    const rest = (truths.get(draw) ?? []).filter((label) => label.reviewer !== reviewer).map((label) => label.truth)
    return rest.length === 0 ? [] : [Math.round(truth) === Math.round(medianOf(rest))]
  })
  return beside.length === 0 ? null : round(beside.filter(Boolean).length / beside.length)
}

function meanOf(told: readonly Told[]): number | null {
  return told.length === 0 ? null : round(told.reduce((sum, { truth }) => sum + truth, 0) / told.length)
}
