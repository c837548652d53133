import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Demonstration,
  isWhole,
  type ParameterName,
  type PreferencePair,
  type Renderer,
  type ReviewedTrajectory,
  taughtTurns,
  unofferedTools,
  stepsByAction,
  type TrajectoryNode,
} from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import type { Imitated } from './imitated.ts'
import { acceptedIn } from './accepted.ts'
import { type OpinionReading, opinions } from './opinions.ts'
import { isSaidByAny, lagOf, type Lags } from './served.ts'
import { asSaid, asShown, turnTokens } from './turn-tokens.ts'

/** What people showed and preferred, of one trajectory or of many. */
export interface Shown {
  readonly demonstrations: readonly Demonstration[]
  readonly pairs: readonly PreferencePair[]
  /** What people demonstrated and nobody imitates, as it calls tools that the turn was not offered. */
  readonly refused: number
}

/** How trajectories are read. */
export interface Reading extends OpinionReading {
  readonly renderer: Renderer
  /** The Parameter that learns, and how long ago its Versions served. */
  readonly parameter: ParameterName
  readonly lags: Lags
  /** The agent's other weights: what people showed and took of theirs is for them. Default: it has none. */
  readonly others?: readonly ParameterName[]
  /** Tokens of a sequence, at most: what is longer is left out. */
  readonly longest: number
  readonly imitate: Imitated
}

/**
 * What a trajectory teaches beside its reward:
 * - an edited or demonstrated answer is a Demonstration, and better than what was said: a pair. An edit stands on the turns
 *   before it, and shows nothing where these, or the answer itself, were broken or vetoed. One that calls a tool which the
 *   turn was not offered is refused, and counted;
 * - an answer of the Parameter's that people took, in a session that earned enough, is a Demonstration as it is; not where
 *   a canary's candidate gave it that never came to serve;
 * - two answers of ours in one place, of which people took one and refused the other, are a pair.
 *
 * An answer is preferred only where its trajectory was not vetoed and it came to its end (invariant 5). Two answers in one
 * place read the very same tokens; a question that was put in other words is another place.
 */
export async function shownIn(evidence: ReviewedTrajectory, reading: Reading): Promise<Shown> {
  const { trajectory, signals, reward } = evidence
  const { parameter, lags, longest } = reading
  const edits = await editsIn(evidence, reading)
  const pairs = [...edits.pairs, ...(await choicesIn(evidence, reading))]
  const { accepted: least } = reading.imitate
  const taken = least !== null && reward.status === 'scored' && reward.value >= least
  const served = lagOf(trajectory, parameter, lags, Number.POSITIVE_INFINITY) !== 'candidate-arm'
  const accepted = taken && served ? await acceptedIn(trajectory, signals, reading) : []
  const fits = ({ tokens }: Demonstration) => tokens.length <= longest
  return {
    demonstrations: [...edits.demonstrations, ...accepted].filter(fits),
    pairs: pairs.filter(({ chosen, rejected }) => fits(chosen) && fits(rejected)),
    refused: edits.refused,
  }
}

/**
 * No text has more bytes than this to a token, on average. What is longer than the longest sequence of such tokens is left
 * out before it is tokenized, which takes seconds for each megabyte.
 */
const bytesPerToken = 32

async function editsIn(evidence: ReviewedTrajectory, reading: Reading): Promise<Shown> {
  const { others = [] } = reading
  const { demonstrated, edited } = reading.imitate
  const demonstrations: Demonstration[] = []
  const pairs: PreferencePair[] = []
  let refused = 0
  for (const { node, before, better, by } of taughtTurns(evidence)) {
    if (isSaidByAny(evidence.trajectory, node.id, others)) continue
    if (Buffer.byteLength(JSON.stringify(better)) > bytesPerToken * reading.longest) continue
    // A client may have edited many answers at length, and the gateway answers in this thread.
    await nextTurn()
    const turn = laidOut(() => turnTokens(evidence.trajectory, node, reading))
    if (turn && unofferedTools(better, turn.tools).length > 0) {
      refused++
      continue
    }
    const chosen = turn && laidOut(() => asShown(turn, better, before, reading.renderer))
    if (!turn || !chosen) continue
    if (by === 'edit' ? edited : demonstrated) demonstrations.push(chosen)
    if (better[0]?.role === 'assistant') pairs.push({ chosen, rejected: asSaid(turn) })
  }
  return { demonstrations, pairs, refused }
}

async function choicesIn(
  { trajectory, reward, signals }: ReviewedTrajectory,
  reading: Reading,
): Promise<Shown['pairs']> {
  if (reward.status === 'vetoed') return []
  const { others = [] } = reading
  const steps = stepsByAction(trajectory)
  const liked = await opinions(trajectory, signals, reading)
  const places = new Map<string | null, TrajectoryNode[]>()
  for (const node of trajectory.nodes) {
    if (node.message.role !== 'assistant' || !steps.has(node.id)) continue
    if (isSaidByAny(trajectory, node.id, others)) continue
    const place = places.get(node.parent)
    if (place) place.push(node)
    else places.set(node.parent, [node])
  }
  const pairs: PreferencePair[] = []
  for (const place of places.values()) {
    const ranked = place
      .flatMap((node) => {
        const opinion = liked.get(node.id)
        return opinion === undefined ? [] : [{ node, opinion }]
      })
      .toSorted((a, b) => b.opinion - a.opinion)
    const best = ranked.find(({ node, opinion }) => opinion > 0 && isWhole([node], steps))
    const worst = ranked.findLast(({ opinion }) => opinion < 0)
    const chosen = best && laidOut(() => turnTokens(trajectory, best.node, reading))
    const rejected = worst && laidOut(() => turnTokens(trajectory, worst.node, reading))
    if (!chosen || !rejected || String(chosen.context) !== String(rejected.context)) continue
    pairs.push({ chosen: asSaid(chosen), rejected: asSaid(rejected) })
  }
  return pairs
}

/** What the model's form cannot express shows nothing: what one client reports must not end the run of all. */
function laidOut<T>(tokens: () => T): T | null {
  try {
    return tokens()
  } catch (error) {
    if (error instanceof InputError) return null
    throw error
  }
}
