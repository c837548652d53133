import { z } from 'zod'
import {
  type choiceKind,
  type ChoiceDeposit,
  type ChoicePolicy,
  type ChoiceValue,
  evenPolicy,
  hiddenOf,
  scoresOf,
  softmax,
  withIntercept,
} from '../../agent/index.ts'
import { type Optimizer, parseInput, type Rng } from '../../core/index.ts'
import { choiceOptimizer } from './session.ts'

type Softmax = Extract<ChoicePolicy, { by: 'softmax' }>

/** How {@link reinforce} learns. */
export const ReinforceOptions = z.strictObject({
  /** Size of a step along the mean gradient of a batch. */
  learningRate: z.number().positive().default(2),
  /** Units of a hidden layer of tanh; 0: scores are linear in the features. */
  hidden: z.int().nonnegative().max(64).default(0),
  /** Steps on each batch: from the second on, its choices were made by an earlier policy. */
  epochs: z.int().positive().max(100).default(1),
  /** The most that a choice counts for being likelier now than when it was made. */
  mostWeight: z.number().min(1).default(2),
})
export type ReinforceOptions = z.input<typeof ReinforceOptions>

/**
 * REINFORCE: θ += η · mean of w · A · ∇log π(a | x) (Williams 1992). The baseline is the credit estimator's, which has taken it
 * off the advantage A already; choices without an advantage move nothing. A choice that was made by an earlier policy counts by
 * its importance weight w = min(π(a|x) / π_then(a|x), `mostWeight`), truncated so that few choices cannot decide a step.
 * @throws InputError for options that cannot be.
 */
export function reinforce(given: ReinforceOptions = {}): Optimizer<typeof choiceKind> {
  const { hidden, epochs, ...options } = parseInput(ReinforceOptions, given, 'the options of reinforce')
  return choiceOptimizer({
    name: 'reinforce',
    begin: (value, rng) => starting(value, hidden, rng),
    move(value, deposits) {
      let moved = value
      for (let epoch = 0; epoch < epochs; epoch++) {
        moved = { ...moved, policy: reinforced(moved, deposits, options) }
      }
      const told = deposits.filter(({ advantage }) => advantage !== null).length
      return { policy: moved.policy, metrics: { told } }
    },
  })
}

/** The policy to go on from: the one in force where it has such a layer, else one that gives all options the same. */
function starting({ policy, options, features }: ChoiceValue, hidden: number, rng: Rng): ChoicePolicy {
  if (policy.by === 'softmax' && (policy.hidden?.length ?? 0) === hidden) return policy
  if (hidden === 0) return evenPolicy(options.length, features)
  const scale = 1 / Math.sqrt(features + 1)
  const row = (length: number, of: () => number) => Array.from({ length }, of)
  return {
    by: 'softmax',
    hidden: Array.from({ length: hidden }, () => row(features + 1, () => scale * (2 * rng.next() - 1))),
    weights: Array.from({ length: options.length }, () => row(hidden + 1, () => 0)),
  }
}

/** One step along the gradient. */
export function reinforced(
  value: ChoiceValue,
  deposits: readonly ChoiceDeposit[],
  { learningRate, mostWeight }: { readonly learningRate: number; readonly mostWeight: number },
): ChoicePolicy {
  const { policy } = value
  if (policy.by !== 'softmax') return policy
  const told = deposits.filter(({ advantage }) => advantage !== null)
  const hidden = policy.hidden?.map((row) => [...row]) ?? null
  const weights = policy.weights.map((row) => [...row])
  for (const deposit of told) {
    const likely = now(value, policy, deposit)
    const size = (learningRate * Math.min(likely.weight, mostWeight) * (deposit.advantage ?? 0)) / told.length
    const { scores, inner } = pushes(policy, deposit, likely)
    const outer = withIntercept(hiddenOf(policy.hidden, deposit.features))
    for (const [k, row] of weights.entries()) add(row, outer, size * (scores[k] ?? 0))
    for (const [h, row] of hidden?.entries() ?? []) add(row, withIntercept(deposit.features), size * (inner[h] ?? 0))
  }
  return { by: 'softmax', hidden, weights }
}

/** A choice as a policy makes it now. */
interface Now {
  /** The softmax chances of the options, among those that might be taken. */
  readonly chances: readonly number[]
  /** How much of the chance of what was chosen is the softmax's, and not drawn evenly: in [0, 1]. */
  readonly own: number
  /** How much likelier what was chosen is than when it was. */
  readonly weight: number
}

/** With the share ε drawn evenly from n options: π(a) = (1 − ε)·p(a) + ε/n. */
function now(value: ChoiceValue, policy: Softmax, { chosen, chances: then, barred, features }: ChoiceDeposit): Now {
  const allowed = value.options.map(({ name }) => !barred.includes(name))
  const chances = softmax(scoresOf(policy, features), allowed)
  const own = (1 - value.explore) * (chances[chosen] ?? 0)
  const likely = own + value.explore / allowed.filter(Boolean).length
  return { chances, own: likely > 0 ? own / likely : 1, weight: likely / (then[chosen] ?? 1) }
}

/** ∇log π(a|x) by the scores, ∂log π(a)/∂s_k = own · (1[k = a] − p(k)), and by what goes into the hidden units. */
function pushes(policy: Softmax, { chosen, features }: ChoiceDeposit, { chances, own }: Now) {
  const scores = chances.map((chance, k) => own * (Number(k === chosen) - chance))
  const units = policy.hidden === null ? [] : hiddenOf(policy.hidden, features)
  const inner = units.map((unit, h) => {
    const back = scores.reduce((sum, push, k) => sum + push * (policy.weights[k]?.[h] ?? 0), 0)
    return back * (1 - unit * unit)
  })
  return { scores, inner }
}

function add(row: number[], direction: readonly number[], size: number): void {
  for (const [i, entry] of direction.entries()) row[i] = (row[i] ?? 0) + size * entry
}
