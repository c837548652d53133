import type { TrajectoryId } from '../../core/index.ts'
import type { Conversation } from './conversation.ts'
import { type KnownNode, type KnownNodes, tokensShared } from './known-nodes.ts'
import { saysTheSame } from './spoken.ts'

/** A node that the first messages of a request lead to; `null` before the first. */
export interface AttachPoint {
  readonly node: KnownNode | null
  /** How many messages of the request it stands for, with those before it. */
  readonly messages: number
}

/** Where nothing is known of a conversation. */
export const root: AttachPoint = { node: null, messages: 0 }

/** The places in a request's messages where its assistant turns end, the last first. */
export function turnEnds({ points }: Conversation): readonly number[] {
  return points.flatMap(({ spoken }, i) => (spoken ? [i] : [])).toReversed()
}

/**
 * Where a request may go on in a trajectory, the deepest first; of one depth, the likeliest first. These are the turns
 * that we produced, and, where the client's history has another turn than ours, what was said before both: then the two
 * stand side by side.
 */
export function attachPoints(
  known: KnownNodes,
  trajectory: TrajectoryId,
  conversation: Conversation,
): readonly AttachPoint[] {
  const { points } = conversation
  const found: AttachPoint[] = []
  for (let i = points.length - 1; i >= 0; i -= 1) {
    const nodes = points[i]?.spoken
      ? producedAt(known, trajectory, conversation, i)
      : points[i + 1]?.spoken
        ? known.at(trajectory, points[i]?.exact ?? '').filter(({ answered }) => answered)
        : []
    for (const node of nodes) found.push({ node, messages: i + 1 })
  }
  return found
}

/**
 * Those of the places whose conversations begin as this one is read: where a release has changed the system prompt since,
 * what was said under the other one is no part of what the policy reads now, and the same messages come again beside it.
 */
export function readAlike(points: readonly AttachPoint[], { opening }: Conversation): readonly AttachPoint[] {
  return points.every(({ node }) => node === null || node.opening === opening)
    ? points
    : points.filter(({ node }) => node === null || node.opening === opening)
}

/** The turns of ours that message `i` ends: first those that nothing follows yet, the latest first. */
export function producedAt(
  known: KnownNodes,
  trajectory: TrajectoryId,
  { points }: Conversation,
  i: number,
): readonly KnownNode[] {
  const point = points[i]
  const sent = point?.spoken
  if (!sent) return []
  const exact = known.at(trajectory, point.exact).filter(({ answer }) => answer !== null)
  const alike =
    exact.length > 0 || point.loose === null
      ? exact
      : known
          .at(trajectory, point.loose)
          .filter(({ answer }) => answer !== null && saysTheSame(answer.calls, sent.calls))
  return alike.toSorted((a, b) => Number(a.continued) - Number(b.continued))
}

/**
 * The deepest point whose tokens the prompt begins with; without tokens, the deepest. Of one depth, the one that shares
 * most. Where a template rendered a turn of ours anew, this is what came before it.
 */
export function attachTo(
  candidates: readonly AttachPoint[],
  prompt: readonly number[] | null,
): AttachPoint & { readonly tokens: number } {
  let best: (AttachPoint & { readonly tokens: number }) | null = null
  for (const candidate of candidates) {
    if (best && candidate.messages < best.messages) break
    const tokens = prompt === null ? 0 : tokensShared(candidate.node, prompt)
    if (tokens !== null && (best === null || tokens > best.tokens)) best = { ...candidate, tokens }
  }
  return best ?? { ...root, tokens: 0 }
}
