import type { Estimate } from './estimate.ts'

/** The estimated difference, for people. */
export function differenceOf({ difference, interval }: Estimate): string {
  if (difference === null || interval === null) return 'Both arms have not been seen yet'
  const [at, low, high] = [difference, ...interval].map((value) => value.toPrecision(3))
  return `The difference is about ${at}, in [${low}, ${high}]`
}

/** The e-value of a logarithm; six digits, and at most 1e299, as JSON has no infinity. */
export function finite(log: number): number {
  return Number(Math.exp(Math.min(log, 690)).toPrecision(6))
}

/** The e-value of a logarithm, for people. */
export function eValue(log: number): string {
  return Number(finite(log).toPrecision(3)).toString()
}

export function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`
}
