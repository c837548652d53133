/**
 * P(Σ aᵢ·Eᵢ ≤ Σ bⱼ·Eⱼ′) for independent standard exponentials, with a = `gains` and b = `losses`, all above 0.
 *
 * A race of two queues: the next of the gains ends before the next of the losses with probability b / (a + b), and what
 * is left of the other one is again exponential, as if it had just begun. So the probability is a sum of products of
 * such fractions, all positive: nothing cancels, and each step adds a relative error of a few units of rounding.
 *
 * Takes gains × losses steps.
 * @param losses at least one.
 * @returns a number that is not below the probability, and above it by at most 1e-15 · (1 + gains + losses) of it; a
 * probability below 1e-300 is told as 1e-300.
 */
export function lossesOutlast(gains: Float64Array, losses: Float64Array): number {
  const rest = losses.length
  // chance[j]: the gains that are still to be added run out first, with j losses gone. No loss left: they do not.
  const chance = new Float64Array(rest + 1).fill(1)
  chance[rest] = 0
  for (const gain of gains) {
    let next = 0
    for (let j = rest - 1; j >= 0; j--) {
      const loss = losses[j] as number
      next = (loss * (chance[j] as number) + gain * next) / (gain + loss)
      chance[j] = next
    }
  }
  const perStep = 8 * (Number.EPSILON / 2)
  return Math.max(chance[0] as number, 1e-300) * (1 + perStep * (1 + gains.length + rest))
}
