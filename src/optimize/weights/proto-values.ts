import { rng } from '../../core/index.ts'
import type { ActedEpisode, AuxiliaryTasks } from './auxiliary.ts'
import { requireOption, requirePositiveInteger } from './errors.ts'

/** Which values are predicted, and how much that counts. */
export interface ProtoValuesOptions {
  /** Random sets of observations, each a value to predict. Default 16. */
  readonly outputs?: number
  /** γ in [0, 1): a turn counts γ times as much as the one before it. Default 0.9. */
  readonly discount?: number
  /** β ≥ 0, of the mean squared error over the values. Default 0.1. */
  readonly weight?: number
  /** Draws the sets: equal seeds draw equal ones, in every run. Default 0. */
  readonly seed?: number
  /** `similar`: observations that share tokens are likely in the same sets. `equal`: only the same observation is. Default `similar`. */
  readonly sets?: 'similar' | 'equal'
  /** Whether one more value is what the episode earned, discounted by the turns that are left. Default false. */
  readonly returns?: boolean
}

/**
 * Proto-value networks (Farebrother et al. 2023): beside its main loss, a representation learns to predict many value functions,
 * each of a reward that means nothing by itself: whether what is observed lies in a random set. Together they are a sketch of
 * the successor measure: of where the agent will come from here.
 *
 * Value j of a turn is √(1 − γ²) · Σ_i γ^i · c_j(o_i), with o_0 what is observed after the turn, o_1 after the next one, to the
 * episode's end, and c_j = 1 within the set j and −1 outside. The factor gives values of unlike sets a variance of at most 1,
 * whatever γ. An episode is finite, so these sums are exact: nothing is bootstrapped, and there is no target network. That is what
 * differs from the paper, which learns by temporal differences off-policy: here the values are those of the policy that acted.
 *
 * Sets are drawn by `seed`. Of `similar` ones, o lies in j where Σ over o's distinct tokens of a random number in [−1, 1) is
 * above 0 (random hyperplanes: Charikar 2002), so that observations with most tokens in common lie in most of the same sets.
 * All tokens of a turn predict its values, each from what was read before it. Acts that are not to be learned are read as
 * observed: those that the sample of another branch carries, and those of a demonstration that were put right.
 * @throws OptimizeError for options out of range.
 */
export function protoValues(
  options: ProtoValuesOptions = {},
): AuxiliaryTasks & { readonly options: ProtoValuesOptions } {
  const { outputs = 16, discount = 0.9, weight = 0.1, seed = 0, sets = 'similar', returns = false } = options
  requirePositiveInteger('outputs', outputs)
  requireOption(discount >= 0 && discount < 1, `The discount is ${discount}`, 'Make it at least 0 and below 1')
  requireOption(weight >= 0 && Number.isFinite(weight), `The weight is ${weight}`, 'Make it 0 or more')
  const cumulants = sets === 'equal' ? ofEqual(outputs, seed) : ofSimilar(outputs, seed)
  const scale = Math.sqrt(1 - discount ** 2)
  return {
    options,
    outputs: outputs + (returns ? 1 : 0),
    weight,
    targets(episode) {
      const { earned, acted } = episode
      if (returns && earned === undefined) return null
      let values: readonly number[] = Array.from({ length: outputs }, () => 0)
      let left = returns ? (earned ?? 0) : 0
      const targets: (readonly number[])[] = acted.map(() => [])
      for (const { start, end, observed } of turnsOf(episode).toReversed()) {
        const now = observed.length > 0 ? cumulants(observed) : null
        values = values.map((after, j) => scale * (now?.[j] ?? 0) + discount * after)
        targets.fill(returns ? [...values, left] : values, start, end)
        left *= discount
      }
      return targets
    },
  }
}

/** A turn, by its first token and the one after its last, and what was observed after it. */
interface ActedTurn {
  readonly start: number
  readonly end: number
  readonly observed: readonly number[]
}

function turnsOf({ tokens, acted }: ActedEpisode): readonly ActedTurn[] {
  const turns: ActedTurn[] = []
  for (let start = acted.indexOf(true); start >= 0; ) {
    const end = next(acted, false, start)
    const after = next(acted, true, end)
    turns.push({ start, end, observed: tokens.slice(end, after) })
    start = after < acted.length ? after : -1
  }
  return turns
}

/** Where the flag is next, from a place on; the end where it is nowhere. */
function next(flags: readonly boolean[], wanted: boolean, from: number): number {
  const found = flags.indexOf(wanted, from)
  return found < 0 ? flags.length : found
}

/** For each set, 1 where an observation lies in it and −1 where it does not. */
type Cumulants = (observed: readonly number[]) => readonly number[]

const ofEqual =
  (outputs: number, seed: number): Cumulants =>
  (observed) => {
    const random = rng('proto-values', seed, ...observed)
    return Array.from({ length: outputs }, () => (random.next() < 0.5 ? -1 : 1))
  }

function ofSimilar(outputs: number, seed: number): Cumulants {
  const known = new Map<number, readonly number[]>()
  const drawn = (token: number): readonly number[] => {
    const found = known.get(token)
    if (found) return found
    const random = rng('proto-values', seed, token)
    const row = Array.from({ length: outputs }, () => 2 * random.next() - 1)
    known.set(token, row)
    return row
  }
  return (observed) => {
    const sums = Array.from({ length: outputs }, () => 0)
    for (const token of new Set(observed)) {
      for (const [j, value] of drawn(token).entries()) sums[j] = (sums[j] ?? 0) + value
    }
    return sums.map((sum) => (sum > 0 ? 1 : -1))
  }
}
