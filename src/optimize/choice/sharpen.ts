import { type ChoiceDeposit, type ChoiceValue, type Quality, withIntercept } from '../../agent/index.ts'

/**
 * What is believed of each option after a batch: the posterior of all that was ever seen of it, not of this batch alone.
 *
 * An episode's quality is what it earned with all given back that this choice cost in it, brought to [0, 1] by the value's range.
 * Without features: α += q, β += 1 − q (Beta–Bernoulli). With features x, an intercept among them: A += x·xᵀ, b += q·x (Bayesian
 * linear regression). Choices whose episode earned nothing that is known change nothing.
 * @returns `clamped`: how many qualities lay outside the range, and were taken for its ends.
 */
export function sharpened(
  value: ChoiceValue,
  deposits: readonly ChoiceDeposit[],
): { readonly value: ChoiceValue; readonly clamped: number } {
  const [low, high] = value.range
  let clamped = 0
  const qualities = value.options.map(({ quality }) => quality)
  for (const { chosen, features, charged, earned } of deposits) {
    const known = qualities[chosen]
    if (earned === null || known === undefined) continue
    const raw = (earned + charged - low) / (high - low)
    const quality = Math.min(1, Math.max(0, raw))
    if (Math.abs(raw - quality) > 1e-9) clamped++
    qualities[chosen] = seen(known, quality, withIntercept(features))
  }
  const options = value.options.map((option, i) => ({ ...option, quality: qualities[i] ?? option.quality }))
  return { value: { ...value, options }, clamped }
}

function seen(known: Quality, quality: number, x: readonly number[]): Quality {
  if ('alpha' in known) return { alpha: known.alpha + quality, beta: known.beta + 1 - quality }
  return {
    precision: known.precision.map((row, i) => row.map((entry, j) => entry + (x[i] ?? 0) * (x[j] ?? 0))),
    moments: known.moments.map((moment, i) => moment + quality * (x[i] ?? 0)),
  }
}
