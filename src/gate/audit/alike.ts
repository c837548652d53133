import type { Audit, AuditDraw } from '../../core/index.ts'
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
