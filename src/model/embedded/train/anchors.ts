import { InvariantError } from '../../../errors/index.ts'

/** What was measured once: how much each trained value mattered, and what it was. Flat, in the order of `trainedShapes`. */
export interface Anchor {
  /** F_i: the mean squared gradient of the log-likelihood; ≥ 0. */
  readonly importance: Float32Array
  /** θ*_i. */
  readonly values: Float32Array
}

/**
 * Any number of anchors as one, which is exact: Σ_a F_a (θ − θ*_a)² = F (θ − θ̄)² + constant, with F = Σ_a F_a and
 * θ̄ = Σ_a F_a θ*_a / F. So that holding on to many costs no more than holding on to one.
 */
export interface HeldAnchors extends Anchor {
  /** λ ≥ 0. */
  readonly strength: number
  /** That constant over all values: what the anchors cost where they disagree with each other, wherever θ is. */
  readonly spread: number
}

/** @returns `null` without anchors. */
export function heldAnchors(anchors: readonly Anchor[], strength: number): HeldAnchors | null {
  const [first] = anchors
  if (first === undefined) return null
  const importance = new Float32Array(first.importance.length)
  const values = first.values.slice()
  let spread = 0
  for (let i = 0; i < importance.length; i++) {
    let [total, weighted] = [0, 0]
    for (const anchor of anchors) {
      const f = anchor.importance[i] as number
      total += f
      weighted += f * (anchor.values[i] as number)
    }
    if (total === 0) continue
    const mean = weighted / total
    importance[i] = total
    values[i] = mean
    for (const anchor of anchors) {
      spread += (anchor.importance[i] as number) * ((anchor.values[i] as number) - mean) ** 2
    }
  }
  return { importance, values, strength, spread }
}

/**
 * Adds the gradient of the penalty, λ·F·(θ − θ̄), to `gradient`.
 * @returns the penalty (λ/2)·(Σ_i F_i (θ_i − θ̄_i)² + spread) at these values.
 */
export function addPull(gradient: Float32Array, values: Float32Array, held: HeldAnchors): number {
  const { importance, values: anchors, strength, spread } = held
  if (importance.length !== values.length) {
    throw new InvariantError(`anchors of ${importance.length} values for ${values.length} that are trained`)
  }
  let sum = spread
  for (let i = 0; i < values.length; i++) {
    const f = importance[i] as number
    const distance = (values[i] as number) - (anchors[i] as number)
    gradient[i] = (gradient[i] as number) + strength * f * distance
    sum += f * distance * distance
  }
  return (strength / 2) * sum
}

export function copyOfHeld({ importance, values, ...numbers }: HeldAnchors): HeldAnchors {
  return { ...numbers, importance: importance.slice(), values: values.slice() }
}
