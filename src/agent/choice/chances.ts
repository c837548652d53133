import { type Belief, beliefIn, innerProduct, withIntercept } from './belief.ts'
import type { ChoiceOption, ChoicePolicy, ChoiceValue } from './value.ts'

/** How likely each option is, and which may not be taken here. */
export interface Chances {
  /** One for each option; they add up to 1. */
  readonly chances: readonly number[]
  /** Whether an option may be taken: of the others the chance is 0. */
  readonly allowed: readonly boolean[]
}

/**
 * How likely a choice takes each of its options. The policy chooses among those that may be taken; with the chance `explore`,
 * one of these is drawn evenly.
 */
export function chancesOf(value: ChoiceValue, features: readonly number[]): Chances {
  const { options, policy, floor, explore } = value
  const asks = floor !== null || policy.by === 'ucb' || policy.by === 'thompson'
  const believed = asks ? options.map(({ quality }) => beliefIn(value, quality, features)) : []
  const allowed = options.map(
    ({ safe }, i) => floor === null || safe || (believed[i]?.below(floor.quality) ?? 1) <= floor.risk,
  )
  const open = allowed.filter(Boolean).length
  const chosen = chosenBy(policy, { options, believed, allowed, features })
  return { allowed, chances: chosen.map((chance, i) => (allowed[i] ? (1 - explore) * chance + explore / open : 0)) }
}

interface Asked {
  readonly options: readonly ChoiceOption[]
  readonly believed: readonly Belief[]
  readonly allowed: readonly boolean[]
  readonly features: readonly number[]
}

/** What the policy alone gives each option. */
function chosenBy(policy: ChoicePolicy, { options, believed, allowed, features }: Asked): readonly number[] {
  switch (policy.by) {
    case 'fixed': {
      const named = options.findIndex(({ name }, i) => name === policy.option && allowed[i])
      return only(named < 0 ? options.findIndex(({ safe }) => safe) : named, options.length)
    }
    case 'softmax':
      return softmax(scoresOf(policy, features), allowed)
    case 'ucb': {
      const bounds = options.map(({ cost }, i) => bound(believed[i], policy.width) - cost)
      const most = Math.max(...bounds.filter((_, i) => allowed[i]))
      return only(
        bounds.findIndex((one, i) => one === most && allowed[i]),
        options.length,
      )
    }
    case 'thompson':
      return bestOf(believed, options, allowed)
  }
}

const bound = (belief: Belief | undefined, width: number) =>
  belief === undefined ? Number.NaN : belief.mean + width * belief.deviation

const only = (chosen: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, i) => (chosen < 0 ? Number.NaN : Number(i === chosen)))

/** What a hidden layer makes of features: tanh of each unit; the features themselves where there is none. */
export const hiddenOf = (
  hidden: readonly (readonly number[])[] | null,
  features: readonly number[],
): readonly number[] =>
  hidden === null ? features : hidden.map((row) => Math.tanh(innerProduct(row, withIntercept(features))))

/** The scores that a `softmax` policy gives the options. */
export function scoresOf(
  { hidden, weights }: Extract<ChoicePolicy, { by: 'softmax' }>,
  features: readonly number[],
): readonly number[] {
  const inner = withIntercept(hiddenOf(hidden, features))
  return weights.map((row) => innerProduct(row, inner))
}

/** Chances in proportion to the exponentials of scores, among the allowed. */
export function softmax(scores: readonly number[], allowed: readonly boolean[]): readonly number[] {
  const highest = Math.max(...scores.filter((_, i) => allowed[i]))
  const weights = scores.map((score, i) => (allowed[i] ? Math.exp(score - highest) : 0))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}

/**
 * The chance of each option to bring the most: P(qᵢ − cᵢ > qⱼ − cⱼ for all j ≠ i) = Σ over points t of i of w(t)·∏ⱼ P(qⱼ ≤
 * t − cᵢ + cⱼ), qualities being independent. An option is then drawn by these chances, so that they are what it was
 * drawn with, exactly, however fine the points are.
 */
function bestOf(
  believed: readonly Belief[],
  options: readonly ChoiceOption[],
  allowed: readonly boolean[],
): readonly number[] {
  const chances = options.map((option, i) => {
    const points = believed[i]?.points
    if (!allowed[i] || !points) return 0
    const rivals = believed.flatMap((belief, j) =>
      j !== i && allowed[j] ? [{ belief, shift: (options[j]?.cost ?? 0) - option.cost }] : [],
    )
    let best = 0
    for (const [m, weight] of points.weight.entries()) {
      if (weight < negligible) continue
      let product = weight
      for (const { belief, shift } of rivals) product *= belief.below((points.at[m] ?? 0) + shift)
      best += product
    }
    return best
  })
  const total = chances.reduce((sum, chance) => sum + chance, 0)
  return chances.map((chance) => chance / total)
}

/** Points that weigh less change nothing that could be seen. */
const negligible = 1e-12
