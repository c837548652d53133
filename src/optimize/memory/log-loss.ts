/** What was told of something, by numbers, and whether it was so. */
export interface Example {
  readonly features: readonly number[]
  readonly label: 0 | 1
}

/** The mean logistic loss −r log Q − (1 − r) log(1 − Q), in nats. */
export function logLoss(examples: readonly Example[], chance: (features: readonly number[]) => number): number {
  const loss = ({ features, label }: Example) => {
    const q = Math.min(1 - 1e-6, Math.max(1e-6, chance(features)))
    return label === 1 ? -Math.log(q) : -Math.log(1 - q)
  }
  return examples.reduce((sum, example) => sum + loss(example), 0) / examples.length
}
