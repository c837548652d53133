import type { Json, Message, ReviewedTrajectory, Step, Trajectory, TrajectoryNode } from '../core/index.ts'
import { mayTrain } from './imported.ts'
import { flatten, temperatureOf } from './tokens.ts'
import type { VerifiersMessage, VerifiersTrace } from './verifiers-schema.ts'

/**
 * A trajectory as a verifiers v1 trace: both are graphs of messages with the tokens that each adds. The log-probabilities
 * are those that the tokens were drawn with; tokens of which that is not known leave as context, since verifiers reads
 * sampled ones without log-probabilities as drawn for certain. A vetoed reward leaves at the floor, with the guard named
 * in `info`; a missing one leaves as no reward, never as 0.
 */
export function toVerifiers({ trajectory, reward, signals }: ReviewedTrajectory): VerifiersTrace {
  const { nodes, steps, task, startedAt, seconds, stopReason, failure, origin } = trajectory
  const indexOf = new Map(nodes.map(({ id }, i) => [id, i]))
  const stepOf = new Map(steps.map((step) => [step.action, step]))
  return {
    version: 1,
    id: trajectory.id,
    verifiers: { version: 'ratchet', commit: null },
    task: {
      type: 'RatchetTask',
      data: { id: task.id, prompt: task.instruction, split: task.split, ...(task.tier ? { tier: task.tier } : {}) },
      key: task.id,
      hash: null,
    },
    agent: {
      config: {},
      runtime: null,
      name: (origin.kind === 'traffic' ? origin.agent : null) ?? 'agent',
      trainable: mayTrain(origin),
    },
    tools: toolsOf(trajectory),
    nodes: nodes.map((node) => nodeOf(node, stepOf.has(node.id), indexOf, startedAt)),
    calls: steps.flatMap((step) => callOf(step, indexOf.get(step.action), nodes)),
    rewards: reward.status === 'missing' ? { reward: null } : { reward: { score: reward.value, weight: 1 } },
    metrics: { ...reward.parts },
    info: {
      ratchet: {
        stop_reason: stopReason,
        ...(reward.status === 'vetoed' ? { vetoed_by: reward.guard, because: reward.reason } : {}),
        ...(reward.status === 'missing' ? { no_reward: reward.reason } : {}),
        signals: signals as unknown as Json,
      },
    },
    is_completed: true,
    ok: failure === null && stopReason === 'done',
    stop_condition: stopReason,
    is_timeout: stopReason === 'time-budget',
    errors:
      failure === null ? [] : [{ type: failure.code, message: failure.message, status_code: null, traceback: null }],
    timing: { start: startedAt / 1_000, agent: { start: startedAt / 1_000, end: startedAt / 1_000 + seconds } },
  }
}

function nodeOf(
  { parent, message, spans, at }: TrajectoryNode,
  sampled: boolean,
  indexOf: ReadonlyMap<string, number>,
  startedAt: number,
): VerifiersTrace['nodes'][number] {
  const { ids, mask, logprobs } = flatten(spans)
  return {
    parent: parent === null ? null : (indexOf.get(parent) ?? null),
    message: messageOf(message),
    sampled,
    timestamp: (at ?? startedAt) / 1_000,
    token_ids: ids,
    mask: logprobs === null ? mask.map(() => false) : mask,
    logprobs: logprobs ?? [],
  }
}

function messageOf(message: Message): VerifiersMessage {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.content }
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: message.toolCallId ?? '',
        content: message.content,
        name: message.name === '' ? null : message.name,
      }
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content,
        ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
        ...(message.toolCalls && message.toolCalls.length > 0
          ? {
              tool_calls: message.toolCalls.map(({ id, name, arguments: args }, i) => ({
                id: id ?? `call_${i}`,
                type: 'function',
                name,
                arguments: JSON.stringify(args),
              })),
            }
          : {}),
      }
  }
}

function toolsOf({ toolsets }: Trajectory): Record<string, Json>[] {
  const byName = new Map(Object.values(toolsets).flatMap((tools) => tools.map((tool) => [tool.name, tool] as const)))
  return [...byName.values()].map((tool) => ({ type: 'function', ...tool }))
}

const finishes: ReadonlySet<string | null> = new Set(['stop', 'length', 'tool_calls'])

function callOf({ call }: Step, node: number | undefined, nodes: readonly TrajectoryNode[]): VerifiersTrace['calls'] {
  const said = nodes[node ?? -1]
  if (!call || node === undefined || !said) return []
  // What the tokens tell is how they were drawn; the request only tells what was asked for.
  const temperature = temperatureOf(said) ?? call.params['temperature']
  const { top_p: topP } = call.params
  const { usage } = call
  return [
    {
      node,
      model: call.servedModel,
      sampling: {
        ...(typeof temperature === 'number' ? { temperature } : {}),
        ...(typeof topP === 'number' ? { top_p: topP } : {}),
      },
      endpoint: '/chat/completions',
      finish_reason: finishes.has(call.finish) ? call.finish : null,
      usage:
        usage === null
          ? null
          : {
              prompt_tokens: usage.promptTokens - (usage.cachedTokens ?? 0),
              completion_tokens: usage.completionTokens,
              cached_input_tokens: usage.cachedTokens,
            },
      time: { start: call.startedAt / 1_000, end: (call.startedAt + call.totalMs) / 1_000 },
    },
  ]
}
