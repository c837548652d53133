import {
  branches,
  type Demonstration,
  type Group,
  type ParameterName,
  type PreferencePair,
  type ScoredTrajectory,
  type TrajectoryNode,
} from '../../core/index.ts'
import { type PairOptions, type PairSource, requireMargin } from './group-pairs.ts'
import { isWhole, saidBy } from './own-episodes.ts'

/** A message of the tree that a group's attempts are, and what came of those that go through it. */
interface Place {
  readonly parent: Place | null
  readonly tokens: readonly number[]
  /** Which of them were sampled by the weights that learn. */
  readonly sampled: readonly boolean[]
  readonly children: Map<string, Place>
  readonly values: Map<ScoredTrajectory, number>
  /** Whether an attempt through it came to its own end, unvetoed. */
  whole: boolean
}

/**
 * Pairs of turns that go on from the same tokens: of each place where a group's attempts part, the turn that led to the best
 * outcomes on average, over the one that led to the worst (Agent Q, Putta et al. 2024, section 4.2: pairs by the values of
 * siblings). Only the turn itself counts; what led to it is context, and what followed is in its value.
 *
 * Attempts part where they said different tokens, so that attempts which were forked share all until then, and attempts of one
 * opening at least their first turn. A turn is preferred only where an attempt through it came to its own end, unvetoed.
 * @throws OptimizeError for a margin below 0.
 */
export function siblingPairs({ margin = 0 }: PairOptions = {}): PairSource {
  requireMargin(margin)
  return (groups, parameter) =>
    groups.flatMap((group) => partings(treeOf(group, parameter)).flatMap((place) => pairAt(place, margin)))
}

function treeOf({ attempts }: Group, parameter: ParameterName | undefined): Place {
  const root = newPlace(null, [], [])
  for (const one of attempts) {
    if (one.reward.status === 'missing') continue
    const own = saidBy(one.trajectory, parameter)
    for (const path of branches(one.trajectory)) {
      let at = root
      for (const node of path) {
        const { tokens, sampled } = tokensOf(node, own(node.id))
        const key = `${sampled.indexOf(true)}:${tokens.join()}`
        const next = at.children.get(key) ?? newPlace(at, tokens, sampled)
        at.children.set(key, next)
        next.values.set(one, one.reward.value)
        next.whole ||= isWhole(one)
        at = next
      }
    }
  }
  return root
}

function newPlace(parent: Place | null, tokens: readonly number[], sampled: readonly boolean[]): Place {
  return { parent, tokens, sampled, children: new Map(), values: new Map(), whole: false }
}

const tokensOf = ({ spans }: TrajectoryNode, isOwn: boolean): Pick<Place, 'tokens' | 'sampled'> => ({
  tokens: spans.flatMap(({ tokens }) => tokens),
  sampled: spans.flatMap(({ kind, tokens }) => tokens.map(() => isOwn && kind === 'sampled')),
})

/** All places after which attempts part, from the root down. */
function partings(root: Place): readonly Place[] {
  const found: Place[] = []
  const open = [root]
  for (let place = open.pop(); place; place = open.pop()) {
    if (place.children.size > 1) found.push(place)
    open.push(...[...place.children.values()].toReversed())
  }
  return found
}

function pairAt(place: Place, margin: number): readonly PreferencePair[] {
  const ranked = [...place.children.values()]
    .filter(({ sampled }) => sampled.includes(true))
    .map((turn) => ({ turn, value: valueOf(turn) }))
    .toSorted((a, b) => b.value - a.value)
  const best = ranked.find(({ turn }) => turn.whole)
  const worst = best && ranked.findLast(({ turn }) => readIn(turn) === readIn(best.turn))
  if (!best || !worst || best.value - worst.value <= margin) return []
  return [{ chosen: turnOf(best.turn), rejected: turnOf(worst.turn) }]
}

const valueOf = ({ values }: Place): number => [...values.values()].reduce((sum, one) => sum + one, 0) / values.size

/** What a turn's message holds before what was said. */
const readIn = ({ tokens, sampled }: Place): string => String(tokens.slice(0, sampled.indexOf(true)))

function turnOf(turn: Place): Demonstration {
  const path: Place[] = []
  for (let at: Place | null = turn; at; at = at.parent) path.push(at)
  return {
    tokens: path.toReversed().flatMap(({ tokens }) => tokens),
    learn: path.toReversed().flatMap((place) => (place === turn ? place.sampled : place.sampled.map(() => false))),
  }
}
