/** A probability that was told, and what came true: a yes or no, or a truth from 0 to 1. */
export interface Prediction {
  readonly told: number
  readonly truth: number
}

/** Mean squared distance of what was told from what was true (Brier, 1950); 0 is best. NaN of none. */
export const brier = (predictions: readonly Prediction[]): number =>
  mean(predictions.map(({ told, truth }) => (told - truth) ** 2))

/**
 * The chance that what was accepted was told a higher probability than what was not, equal ones half (area under the ROC
 * curve): 0.5 tells nothing. `null` where one of both is missing. A truth of at least 0.5 is accepted.
 */
export function auc(predictions: readonly Prediction[]): number | null {
  const sorted = predictions.toSorted((a, b) => a.told - b.told)
  let accepted = 0
  let ranks = 0
  for (let i = 0; i < sorted.length; ) {
    let end = i
    while (end < sorted.length && sorted[end]?.told === sorted[i]?.told) end++
    const tied = sorted.slice(i, end).filter(({ truth }) => truth >= 0.5).length
    accepted += tied
    ranks += (tied * (i + 1 + end)) / 2
    i = end
  }
  const others = sorted.length - accepted
  return accepted === 0 || others === 0 ? null : (ranks - (accepted * (accepted + 1)) / 2) / (accepted * others)
}

/** Those that were told about as much, and how true it was. */
export interface ReliabilityRow {
  /** In [from, to); the last includes 1. */
  readonly from: number
  readonly to: number
  readonly n: number
  /** Means; `null` where there are none. */
  readonly told: number | null
  readonly truth: number | null
}

/** What was told beside what came true, in bins of equal width. */
export function reliability(predictions: readonly Prediction[], bins = 10): readonly ReliabilityRow[] {
  return Array.from({ length: bins }, (_, i) => {
    const inBin = predictions.filter(({ told }) => Math.min(Math.floor(told * bins), bins - 1) === i)
    const row = { from: i / bins, to: (i + 1) / bins, n: inBin.length }
    if (inBin.length === 0) return { ...row, told: null, truth: null }
    return { ...row, told: mean(inBin.map(({ told }) => told)), truth: mean(inBin.map(({ truth }) => truth)) }
  })
}

export const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
