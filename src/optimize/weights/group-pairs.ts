import type { Demonstration, Group, ParameterName, PreferencePair, ScoredTrajectory } from '../../core/index.ts'
import { requireOption } from './errors.ts'
import { imitable, isWhole } from './own-episodes.ts'

/**
 * Makes pairs of attempts that were scored.
 * @param parameter the weights that learn from them: what others said is context. Default: all that was sampled is theirs.
 */
export type PairSource = (groups: readonly Group[], parameter?: ParameterName) => readonly PreferencePair[]

/** When a difference is one. */
export interface PairOptions {
  /** The preferred one is worth more by more than this, in the reward's unit; at least 0. Default 0. */
  readonly margin?: number
}

/**
 * A pair of each group whose attempts differ: the best one that came to its own end, over the worst (ETO, Song et al. 2024,
 * "Trial and Error"). Both are whole episodes; only what the policy sampled counts, and both have read the same before its first
 * turn. A vetoed attempt can only be the worse one. An attempt of several branches is no one sequence and is left out.
 * @throws OptimizeError for a margin below 0.
 */
export function groupPairs({ margin = 0 }: PairOptions = {}): PairSource {
  requireMargin(margin)
  return (groups, parameter) => groups.flatMap(({ attempts }) => bestOverWorst(attempts, margin, parameter))
}

export function requireMargin(margin: number): void {
  requireOption(margin >= 0 && Number.isFinite(margin), `margin is ${margin}`, 'Make it at least 0')
}

function bestOverWorst(
  attempts: readonly ScoredTrajectory[],
  margin: number,
  parameter: ParameterName | undefined,
): readonly PreferencePair[] {
  const ranked = attempts
    .flatMap((one) => {
      const [sequence, ...more] = imitable(one.trajectory, { parameter })
      if (one.reward.status === 'missing' || !sequence || more.length > 0) return []
      return [{ sequence, value: one.reward.value, whole: isWhole(one) }]
    })
    .toSorted((a, b) => b.value - a.value)
  const best = ranked.find(({ whole }) => whole)
  const worst = best && ranked.findLast(({ sequence }) => openingOf(sequence) === openingOf(best.sequence))
  if (!best || !worst || best.value - worst.value <= margin) return []
  return [{ chosen: best.sequence, rejected: worst.sequence }]
}

/** What is read before the first turn. */
function openingOf({ tokens, learn }: Demonstration): string {
  const first = learn.indexOf(true)
  return String(first < 0 ? tokens : tokens.slice(0, first))
}
