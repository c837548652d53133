import {
  type Demonstration,
  isWhole,
  type PreferencePair,
  type Renderer,
  type Signal,
  type ScoredTrajectory,
  shownTurns,
  stepsByAction,
  type TrajectoryNode,
} from '../../core/index.ts'
import { opinions } from './opinions.ts'
import { asSaid, asShown, turnTokens } from './turn-tokens.ts'

/** What people showed and preferred, of one trajectory or of many. */
export interface Shown {
  readonly demonstrations: readonly Demonstration[]
  readonly pairs: readonly PreferencePair[]
}

/** A trajectory with what it earned and what was said of it. */
export interface Evidence extends ScoredTrajectory {
  readonly signals: readonly Signal[]
}

/**
 * What a trajectory teaches beside its reward:
 * - an edited or demonstrated answer is a Demonstration, and better than what was said: a pair;
 * - two answers of ours in one place, of which people took one and refused the other, are a pair.
 *
 * An answer is preferred only where its trajectory was not vetoed and it came to its end (invariant 5). Two answers in one
 * place read the very same tokens; a question that was put in other words is another place.
 * @param longest tokens of a sequence, at most: what is longer is left out.
 */
export function shownIn(evidence: Evidence, asOf: number, renderer: Renderer, longest: number): Shown {
  const edits = editsIn(evidence, renderer)
  const pairs = [...edits.pairs, ...choicesIn(evidence, asOf, renderer)]
  const fits = ({ tokens }: Demonstration) => tokens.length <= longest
  return {
    demonstrations: edits.demonstrations.filter(fits),
    pairs: pairs.filter(({ chosen, rejected }) => fits(chosen) && fits(rejected)),
  }
}

function editsIn(evidence: Evidence, renderer: Renderer): Shown {
  const demonstrations: Demonstration[] = []
  const pairs: PreferencePair[] = []
  for (const { node, before, better } of shownTurns(evidence)) {
    const turn = turnTokens(evidence.trajectory, node, renderer)
    if (turn === null) continue
    const chosen = asShown(turn, better, before, renderer)
    demonstrations.push(chosen)
    if (better[0]?.role === 'assistant') pairs.push({ chosen, rejected: asSaid(turn) })
  }
  return { demonstrations, pairs }
}

function* choicesIn({ trajectory, reward, signals }: Evidence, asOf: number, renderer: Renderer) {
  if (reward.status === 'vetoed') return
  const steps = stepsByAction(trajectory)
  const liked = opinions(trajectory, signals, asOf)
  const places = new Map<string | null, TrajectoryNode[]>()
  for (const node of trajectory.nodes) {
    if (node.message.role !== 'assistant' || !steps.has(node.id)) continue
    const place = places.get(node.parent)
    if (place) place.push(node)
    else places.set(node.parent, [node])
  }
  for (const place of places.values()) {
    const ranked = place
      .flatMap((node) => {
        const opinion = liked.get(node.id)
        return opinion === undefined ? [] : [{ node, opinion }]
      })
      .toSorted((a, b) => b.opinion - a.opinion)
    const best = ranked.find(({ node, opinion }) => opinion > 0 && isWhole([node], steps))
    const worst = ranked.findLast(({ opinion }) => opinion < 0)
    const chosen = best && turnTokens(trajectory, best.node, renderer)
    const rejected = worst && turnTokens(trajectory, worst.node, renderer)
    if (!chosen || !rejected || String(chosen.context) !== String(rejected.context)) continue
    yield { chosen: asSaid(chosen), rejected: asSaid(rejected) }
  }
}
