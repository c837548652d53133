/** Whether a test measures with as many seeds as evidence takes, rather than with a few that show that it works. */
export const evidence = process.env['RATCHET_EVIDENCE'] === '1'

/** Ten seeds for evidence, else so few. */
export const seedsFrom = (first: number, few: number): readonly number[] =>
  Array.from({ length: evidence ? 10 : few }, (_, i) => first + i)

/** A mean of shares, in percent, with its 95 % interval. */
export interface AcrossSeeds {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** Student's quantile at 0.975 of nine degrees of freedom. */
const student = 2.262

/** The mean over ten seeds, with Student's interval. */
export function acrossTen(shares: readonly number[]): AcrossSeeds {
  if (shares.length !== 10) throw new Error(`${shares.length} seeds`)
  const mean = shares.reduce((sum, one) => sum + one, 0) / shares.length
  const variance = shares.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (shares.length - 1)
  const half = student * Math.sqrt(variance / shares.length)
  return { mean: 100 * mean, low: 100 * (mean - half), high: 100 * (mean + half) }
}

/** As people read it. */
export const inWords = ({ mean, low, high }: AcrossSeeds): string =>
  `${mean.toFixed(0)} [${low.toFixed(0)}, ${high.toFixed(0)}]`
