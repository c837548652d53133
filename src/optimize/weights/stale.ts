import { requireOption } from './errors.ts'

/**
 * The cut-off for samples of traffic: those that Versions served which are at most `generations` activations older than
 * what serves now. What stays is off-policy by that much and needs a loss that bounds its ratio: `cispo` with
 * `clipHigh: 2` is truncated importance sampling, min(ρ, 2) on each token's gradient. Generations after the current one
 * count as it does: a release came between.
 * @throws OptimizeError when `generations` is not a whole number ≥ 0.
 */
export function withinGenerations<T>(
  samples: readonly T[],
  generationOf: (sample: T) => number,
  { current, generations }: { readonly current: number; readonly generations: number },
): { readonly kept: readonly T[]; readonly stale: readonly T[] } {
  const whole = Number.isInteger(generations) && generations >= 0
  requireOption(whole, `generations is ${generations}`, 'Make generations a whole number, at least 0')
  const [kept, stale]: [T[], T[]] = [[], []]
  for (const sample of samples) (current - generationOf(sample) <= generations ? kept : stale).push(sample)
  return { kept, stale }
}
