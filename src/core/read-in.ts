import type { Message } from './message.ts'
import { wasSaid } from './span.ts'
import { pathTo, type Step, type Trajectory } from './trajectory.ts'

/** What one policy call read. */
export interface ReadIn {
  readonly messages: readonly Message[]
  /** The very tokens, in order; `null` where none were recorded, as of a closed API. */
  readonly tokens: readonly number[] | null
}

/**
 * What the policy read when it took a Step: the messages on the way to what it said, and their tokens as they were rendered
 * and sampled. A context that was folded is a branch of its own, so that this is what stood there then.
 */
export function readIn({ nodes }: Pick<Trajectory, 'nodes'>, { action }: Pick<Step, 'action'>): ReadIn {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const said = byId.get(action)
  if (!said) return { messages: [], tokens: null }
  const path = pathTo(said, byId)
  const tokens = path.flatMap(({ id, spans }) =>
    // What was rendered after the last message and before the first token of the turn stands with what was said.
    spans.flatMap((span) => (id === action && wasSaid(span) ? [] : span.tokens)),
  )
  return { messages: path.slice(0, -1).map(({ message }) => message), tokens: tokens.length > 0 ? tokens : null }
}
