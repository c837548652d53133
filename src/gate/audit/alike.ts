import { type Audit, type AuditDraw, groupBy } from '../../core/index.ts'
import { round } from '../round.ts'
import { cohen, medianOf } from './kappa.ts'
import { countingLabels } from './truth.ts'

/** One label that tells. */
export interface Told {
  readonly draw: string
  readonly reviewer: string
  readonly truth: number
}

/** What each reviewer said that counts. */
export type ToldBy = ReadonlyMap<string, { readonly told: readonly Told[]; readonly untold: number }>

/** Labels that count, by reviewer. */
export function toldBy(draws: readonly AuditDraw[], audit: Pick<Audit, 'by'>): ToldBy {
  const all = new Map<string, { told: Told[]; untold: number }>()
  for (const { labels } of draws) {
    for (const { draw, reviewer, truth } of countingLabels(labels, audit)) {
      const one = all.get(reviewer) ?? { told: [], untold: 0 }
      all.set(reviewer, one)
      if (truth === null) one.untold++
      else one.told.push({ draw, reviewer, truth })
    }
  }
  return all
}

/** Fewer labels of one kind in a row tell nothing. */
const fewestAlike = 20
/** How seldom whoever looks would say the same that often. */
const byChance = 0.01

/**
 * Who says the same of everything. Alone, a reviewer is told of after so many alike; beside others, where what they say makes
 * such a row unlikely. It is looked for at every look at a canary, so its work grows with the labels only.
 */
export function alikeReviewers(
  all: ToldBy,
): readonly { readonly reviewer: string; readonly labels: number; readonly truth: number }[] {
  const ofTruth = new Map<number, number>()
  let labels = 0
  for (const { told } of all.values()) {
    labels += told.length
    for (const { truth } of told) ofTruth.set(truth, (ofTruth.get(truth) ?? 0) + 1)
  }
  return [...all].flatMap(([reviewer, { told: own }]) => {
    const [first] = own
    if (!first || own.length < fewestAlike || own.some(({ truth }) => truth !== first.truth)) return []
    const others = labels - own.length
    const same = (ofTruth.get(first.truth) ?? 0) - own.length
    const unlikely = others < fewestAlike || ((same + 1) / (others + 2)) ** own.length < byChance
    return unlikely ? [{ reviewer, labels: own.length, truth: first.truth }] : []
  })
}

/** Draws that others judged too, from which on it is told that a reviewer contradicts them. */
const fewestShared = 20

/**
 * Who agrees with the others no more often than chance would: Cohen's kappa of what they said and what most others said,
 * over draws of which most others said the same, is 0 or less. Who says the same of everything is neither told of here nor
 * heard: {@link alikeReviewers}.
 */
export function contraryReviewers(
  all: ToldBy,
): readonly { readonly reviewer: string; readonly draws: number; readonly agrees: number }[] {
  const alike = new Set(alikeReviewers(all).map(({ reviewer }) => reviewer))
  const heard = [...all].filter(([reviewer]) => !alike.has(reviewer))
  const byDraw = groupBy(
    heard.flatMap(([, { told }]) => told),
    ({ draw }) => draw,
  )
  return heard.flatMap(([reviewer, { told }]) => {
    const pairs = told.flatMap(({ draw, truth }) => {
      const others = (byDraw.get(draw) ?? []).filter((label) => label.reviewer !== reviewer)
      const most = others.length === 0 ? 0.5 : medianOf(others.map((label) => label.truth))
      return most === 0.5 ? [] : [[Math.round(truth), Math.round(most)] as const]
    })
    const kappa = pairs.length < fewestShared ? null : cohen(pairs)
    if (kappa === null || kappa > 0) return []
    const agreed = pairs.filter(([own, most]) => own === most).length
    return [{ reviewer, draws: pairs.length, agrees: round(agreed / pairs.length) }]
  })
}
