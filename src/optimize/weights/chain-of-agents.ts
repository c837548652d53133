import type {
  AssistantMessage,
  Decision,
  DemonstratedEpisode,
  Message,
  NodeId,
  ScoredTrajectory,
} from '../../core/index.ts'
import { isExample } from './own-episodes.ts'

/** How episodes of several agents are told as one agent's. */
export interface ChainOfAgentsOptions {
  /** What an episode has to earn to be told at all. */
  readonly ceiling: number
  /** The part that an agent played in a turn. Default: the name of the Parameter that decided it. */
  readonly roleOf?: (decision: Decision) => string
}

/**
 * Distills a system of several agents into one: an episode in which they succeeded is told as one conversation of one agent that
 * plays all parts, in the order in which they acted. What each said stands in a tag with its role, and calls and what tools
 * answered stay; what one agent was told of another is left out, as the one agent reads it where it was said (Chain-of-Agents, Li
 * et al. 2025: multi-agent distillation, before agentic reinforcement learning).
 *
 * Only episodes that came to their own end and earned all there is are told, and none with a call that could not be read.
 */
export function chainOfAgents(
  scored: readonly ScoredTrajectory[],
  { ceiling, roleOf = ({ parameter }) => parameter }: ChainOfAgentsOptions,
): readonly DemonstratedEpisode[] {
  return scored.filter((one) => isExample(one, ceiling)).flatMap((one) => toldAsOne(one, roleOf))
}

function toldAsOne({ trajectory }: ScoredTrajectory, roleOf: (decision: Decision) => string): DemonstratedEpisode[] {
  const said = new Map<NodeId, Message>(trajectory.nodes.map(({ id, message }) => [id, message]))
  const decided = new Map(
    trajectory.decisions.flatMap((one) => (one.output === null ? [] : [[one.output, one] as const])),
  )
  const messages: Message[] = [{ role: 'user', content: trajectory.task.instruction }]
  for (const { action, observations } of trajectory.steps) {
    const message = said.get(action)
    if (message?.role !== 'assistant') continue
    if ((message.malformedCalls ?? []).length > 0) return []
    const decision = decided.get(action)
    add(messages, decision ? tagged(message, roleOf(decision)) : message)
    for (const node of observations) {
      const observed = said.get(node)
      if (observed?.role === 'tool') messages.push(observed)
    }
  }
  return messages.length > 1 ? [{ messages }] : []
}

/** A turn in which nothing was called goes on in the next one: nobody speaks in between. */
function add(messages: Message[], message: AssistantMessage): void {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || last.toolCalls?.length) messages.push(message)
  else messages.splice(-1, 1, { ...message, content: [last.content, message.content].filter(Boolean).join('\n') })
}

const tagged = ({ content, toolCalls }: AssistantMessage, role: string): AssistantMessage => ({
  role: 'assistant',
  content: content === '' ? '' : `<${role}>${content}</${role}>`,
  ...(toolCalls && { toolCalls }),
})
