/**
 * The factor on the learning rate of an update that learns from so many groups: the square root of their share of what is
 * wanted, at most 1. The gradient's noise falls with the root of the groups it is averaged over, and AdamW takes steps of
 * one size however noisy the gradient is.
 */
export function paceOf(informative: number, wanted: number): number {
  return Math.min(1, Math.sqrt(informative / Math.max(1, wanted)))
}
