import {
  branches,
  isForced,
  type Json,
  type Message,
  type ReviewedTrajectory,
  type Step,
  type TrajectoryNode,
} from '../core/index.ts'
import type { AtifStep, AtifTrajectory } from './atif-schema.ts'
import { mayTrain } from './imported.ts'
import { flatten, temperatureOf } from './tokens.ts'
import { toolsOn } from './tools.ts'

/**
 * A trajectory as ATIF v1.7 documents, one for each branch, since ATIF is linear. The branch that was grown last comes
 * first and is whole; in the others, what an earlier document holds is marked `is_copied_context`, so that each turn is
 * trained on once. They share a `session_id`. What ATIF has no field for is under `extra.ratchet`.
 */
export function toAtif(exported: ReviewedTrajectory): readonly AtifTrajectory[] {
  const { trajectory } = exported
  const order = new Map(trajectory.nodes.map(({ id }, i) => [id, i]))
  const paths = branches(trajectory).toSorted((a, b) => leafOrder(b, order) - leafOrder(a, order))
  const written = new Set<string>()
  return paths.map((path, i) => {
    const document = documentOf(exported, path, i, written)
    for (const { id } of path) written.add(id)
    return document
  })
}

function leafOrder(path: readonly TrajectoryNode[], order: ReadonlyMap<string, number>): number {
  return order.get(path.at(-1)?.id ?? '') ?? -1
}

function documentOf(
  { trajectory, reward, signals }: ReviewedTrajectory,
  path: readonly TrajectoryNode[],
  branch: number,
  written: ReadonlySet<string>,
): AtifTrajectory {
  const stepOf = new Map(trajectory.steps.map((step) => [step.action, step]))
  const steps = stepsOf(path, stepOf, written)
  const first = path.map(({ id }) => stepOf.get(id)?.call).find((call) => call !== undefined)
  const tools = toolsOn(path, trajectory, stepOf).map((tool) => ({ type: 'function', function: { ...tool } }))
  return {
    schema_version: 'ATIF-v1.7',
    session_id: trajectory.id,
    trajectory_id: branch === 0 ? trajectory.id : `${trajectory.id}/branch-${branch}`,
    agent: {
      name: (trajectory.origin.kind === 'traffic' ? trajectory.origin.agent : null) ?? 'agent',
      version: 'unknown',
      ...(first ? { model_name: first.servedModel } : {}),
      ...(tools.length > 0 ? { tool_definitions: tools } : {}),
    },
    steps,
    final_metrics: { ...totalsOf(path, stepOf), total_steps: steps.length },
    extra: {
      ratchet: {
        task: trajectory.task,
        stop_reason: trajectory.stopReason,
        failure: trajectory.failure,
        reward,
        signals,
        ...(mayTrain(trajectory.origin) ? {} : { train: false }),
      } as unknown as Json,
    },
  }
}

type Draft = { -readonly [K in keyof AtifStep]?: AtifStep[K] } & Pick<AtifStep, 'source' | 'message'>

function stepsOf(
  path: readonly TrajectoryNode[],
  stepOf: ReadonlyMap<string, Step>,
  written: ReadonlySet<string>,
): AtifStep[] {
  const drafts: Draft[] = []
  const read: number[] = []
  let exact = true
  for (const node of path) {
    const flat = flatten(node.spans)
    const { message } = node
    const before = drafts.at(-1)
    // A tool's answer belongs to the step that asked; one that follows something else stands alone, as a system step.
    if (message.role === 'tool' && before && (before.source === 'agent' || before.observation)) {
      before.observation = { results: [...(before.observation?.results ?? []), resultOf(message, before)] }
    } else {
      const step = stepOf.get(node.id)
      const draft = draftOf(node, step)
      if (written.has(node.id)) draft.is_copied_context = true
      else if (step && flat.mask.some(Boolean)) {
        const scaffold = flat.mask.indexOf(true)
        draft.metrics = {
          ...draft.metrics,
          ...(exact ? { prompt_token_ids: [...read, ...flat.ids.slice(0, scaffold)] } : {}),
          completion_token_ids: flat.ids.slice(scaffold),
          ...(flat.logprobs && flat.mask.slice(scaffold).every(Boolean) ? { logprobs: flat.logprobs } : {}),
          extra: { temperature: temperatureOf(node) },
        }
      }
      drafts.push(draft)
    }
    // Once a turn's tokens are not known, the prompts after it are not known either.
    if (flat.ids.length === 0 && message.role === 'assistant') exact = false
    // One by one: a prompt has more tokens than a call may have arguments.
    for (const token of flat.ids) read.push(token)
  }
  return drafts.map((draft, i) => ({ ...draft, step_id: i + 1 }))
}

function resultOf(message: Extract<Message, { role: 'tool' }>, step: Draft) {
  const asked = step.tool_calls?.some(({ tool_call_id }) => tool_call_id === message.toolCallId)
  return {
    ...(asked && message.toolCallId !== undefined ? { source_call_id: message.toolCallId } : {}),
    content: message.content,
    ...(message.isError ? { extra: { is_error: true } } : {}),
  }
}

function draftOf({ message, at, spans }: TrajectoryNode, step: Step | undefined): Draft {
  const moment = new Date(at ?? Number.NaN)
  // Other systems' clocks say what no calendar has.
  const timestamp = Number.isNaN(moment.getTime()) ? {} : { timestamp: moment.toISOString() }
  switch (message.role) {
    case 'system':
    case 'user':
      return { source: message.role, message: message.content, ...timestamp }
    case 'tool':
      return { source: 'system', message: '', observation: { results: [{ content: message.content }] }, ...timestamp }
    case 'assistant': {
      const usage = step?.call?.usage
      return {
        source: 'agent',
        message: message.content,
        ...timestamp,
        ...(step?.call ? { model_name: step.call.servedModel } : {}),
        ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
        ...(message.toolCalls && message.toolCalls.length > 0 ? { tool_calls: message.toolCalls.map(toolCall) } : {}),
        ...(usage
          ? {
              metrics: {
                prompt_tokens: usage.promptTokens,
                completion_tokens: usage.completionTokens,
                ...(usage.cachedTokens === null ? {} : { cached_tokens: usage.cachedTokens }),
              },
            }
          : {}),
        // The client's own text, put where a model's turn stands, was sampled by nobody; nor was a forced turn.
        ...(step && !spans.some(isForced) ? { llm_call_count: 1 } : { extra: { sampled: false } }),
        ...(step?.call ? { extra: { finish: step.call.finish } } : {}),
      }
    }
  }
}

function toolCall(
  { id, name, arguments: args }: NonNullable<Extract<Message, { role: 'assistant' }>['toolCalls']>[number],
  i: number,
) {
  return { tool_call_id: id ?? `call_${i}`, function_name: name, arguments: args }
}

function totalsOf(path: readonly TrajectoryNode[], stepOf: ReadonlyMap<string, Step>): Record<string, Json> {
  const usages = path
    .map(({ id }) => stepOf.get(id)?.call?.usage)
    .filter((usage) => usage !== undefined && usage !== null)
  if (usages.length === 0) return {}
  const sum = (count: (usage: (typeof usages)[number]) => number) =>
    usages.reduce((total, usage) => total + count(usage), 0)
  return {
    total_prompt_tokens: sum(({ promptTokens }) => promptTokens),
    total_completion_tokens: sum(({ completionTokens }) => completionTokens),
  }
}
