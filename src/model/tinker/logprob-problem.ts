/** Rounding of float32 takes a certain token this far above 0. */
const slack = 1e-3

/** What is wrong with a log-probability that a server told; `null` when nothing is. */
export function logprobProblem(value: number | undefined): string | null {
  if (value === undefined) return 'nothing'
  if (!Number.isFinite(value)) return `${value}, which is no number`
  return value > slack ? `${value}, which is above 0 and no log-probability` : null
}
