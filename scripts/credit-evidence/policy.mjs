/** A softmax over acts by their traits, improved by Adam (Kingma & Ba 2015). An act is anything with `traits`, a list of names. */
export class Policy {
  #preferences = new Map()
  #moments = new Map()
  #steps = 0
  #rate
  /** @param preferences pairs of a trait and its preference, to begin with */
  constructor(preferences, rate) {
    this.#rate = rate
    this.#preferences = new Map(preferences)
  }
  chances(acts) {
    const weights = acts.map(({ traits }) =>
      Math.exp(traits.reduce((sum, trait) => sum + (this.#preferences.get(trait) ?? 0), 0)),
    )
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    return weights.map((weight) => weight / total)
  }
  choose(acts, draw) {
    let left = draw.next()
    const chosen = this.chances(acts).findIndex((chance) => (left -= chance) < 0)
    return chosen === -1 ? acts.length - 1 : chosen
  }
  step(gradient) {
    this.#steps++
    for (const type of new Set([...gradient.keys(), ...this.#moments.keys()])) {
      const g = gradient.get(type) ?? 0
      const [m, v] = this.#moments.get(type) ?? [0, 0]
      const moments = [0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g]
      this.#moments.set(type, moments)
      const [mean, square] = [moments[0] / (1 - 0.9 ** this.#steps), moments[1] / (1 - 0.99 ** this.#steps)]
      if (square === 0) continue
      this.#preferences.set(type, (this.#preferences.get(type) ?? 0) + (this.#rate * mean) / Math.sqrt(square))
    }
  }
}

/**
 * The policy gradient that an estimator's credits make: Σ A·∇log π, over the number of attempts.
 * @param attempts each with its `trajectory`, and with `choices`: what could be chosen at each Decision `d0`, `d1`, …, and was
 */
export function gradientOf(policy, attempts, credits) {
  const byId = new Map(attempts.map((one) => [one.trajectory.id, one]))
  const gradient = new Map()
  for (const { trajectory, decision, advantage } of credits) {
    if (!advantage) continue
    const { acts, chosen } = byId.get(trajectory).choices[Number(decision.slice(1))]
    for (const [i, chance] of policy.chances(acts).entries()) {
      const change = (advantage * ((i === chosen ? 1 : 0) - chance)) / attempts.length
      for (const trait of acts[i].traits) gradient.set(trait, (gradient.get(trait) ?? 0) + change)
    }
  }
  return gradient
}
