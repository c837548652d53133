import { continued } from '../../agent/index.ts'
import type {
  Demonstration,
  Message,
  NodeId,
  ParameterName,
  Renderer,
  Span,
  ToolDefinition,
  Trajectory,
  TrajectoryNode,
} from '../../core/index.ts'
import { isSaidBy } from './served.ts'

/** One answer in its place: what was read before it, and what it said, in tokens. */
export interface TurnTokens {
  /** Tokens that were read, ready for the policy's first one. */
  readonly context: readonly number[]
  /** What was sampled, or would have had to be. */
  readonly said: readonly number[]
  readonly tools: readonly ToolDefinition[]
}

/**
 * The tokens of an answer and of what came before it: as they were read and sampled, where they are kept and it is an
 * answer of the Parameter's; else rendered anew, as another model's tokens mean other words. `null` for what is no answer.
 */
export function turnTokens(
  trajectory: Trajectory,
  node: TrajectoryNode,
  { renderer, parameter }: { readonly renderer: Renderer; readonly parameter: ParameterName },
): TurnTokens | null {
  const { message } = node
  if (message.role !== 'assistant') return null
  const tools = toolsOf(trajectory, node.id)
  const before = pathTo(trajectory, node)
  const at = node.spans.findIndex(({ kind }) => kind === 'sampled')
  if (at < 0 || !isSaidBy(trajectory, node.id, parameter)) {
    const context = renderer.start(
      before.map((one) => one.message),
      tools,
    )
    return { context, said: renderer.renderAssistant(message, tools), tools }
  }
  const read = [...before.flatMap(({ spans }) => spans), ...node.spans.slice(0, at)]
  return { context: tokensOf(read), said: tokensOf(node.spans.slice(at)), tools }
}

/** What was said, as a Demonstration of it. */
export function asSaid({ context, said }: TurnTokens): Demonstration {
  return {
    tokens: [...context, ...said],
    learn: [...context.map(() => false), ...said.map(() => true)],
  }
}

/**
 * What people showed in an answer's place, after what was read before it.
 * @param before the conversation that it stands in; read anew when what they showed does not begin with the assistant.
 */
export function asShown(
  { context, tools }: TurnTokens,
  better: readonly Message[],
  before: readonly Message[],
  renderer: Renderer,
): Demonstration {
  const first = better.findIndex(({ role }) => role === 'assistant')
  const read = first === 0 ? context : renderer.start([...before, ...better.slice(0, first)], tools)
  return continued(read, better.slice(Math.max(0, first)), tools, renderer)
}

const tokensOf = (spans: readonly Span[]): readonly number[] => spans.flatMap(({ tokens }) => tokens)

function toolsOf({ steps, toolsets }: Trajectory, node: NodeId): readonly ToolDefinition[] {
  const key = steps.find(({ action }) => action === node)?.call?.tools ?? null
  return (key === null ? undefined : toolsets[key]) ?? []
}

/** The nodes before one, from the root. */
export function pathTo({ nodes }: Trajectory, { parent }: TrajectoryNode): readonly TrajectoryNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const path: TrajectoryNode[] = []
  for (let at = parent; at !== null; ) {
    const node = byId.get(at)
    if (!node) break
    path.push(node)
    at = node.parent
  }
  return path.toReversed()
}
