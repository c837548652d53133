import { z } from 'zod'
import { EpisodeFailure, type Json, type Message, Reward, StopReason } from '../core/index.ts'
import type { AtifStep, AtifTrajectory } from './atif-schema.ts'
import type { Imported } from './exchange.ts'
import { type ImportedNode, type ImportOptions, importedTrajectory, withFinishes } from './imported.ts'
import { unflatten } from './tokens.ts'

/** What our own documents say under `extra.ratchet`; other systems' say nothing. */
const Own = z.object({
  stop_reason: StopReason.optional().catch(undefined),
  failure: EpisodeFailure.nullish().catch(null),
  reward: Reward.optional().catch(undefined),
  task: z
    .object({ id: z.string().min(1) })
    .optional()
    .catch(undefined),
  train: z.boolean().optional().catch(undefined),
})

/**
 * Reads an ATIF document of any version from 1.0 to 1.8. Turns that it marks as copied context are nobody's action. What
 * our own documents forbid learning from is held out whatever the options say.
 */
export function fromAtif(document: AtifTrajectory, options: ImportOptions): Imported {
  const own = Own.catch({ failure: null }).parse(document.extra?.ratchet ?? {})
  const nodes: ImportedNode[] = []
  const read: number[] = []
  for (const step of document.steps) {
    for (const node of nodesOf(step, read)) {
      nodes.push({ ...node, parent: nodes.length === 0 ? null : nodes.length - 1 })
      for (const { tokens } of node.spans) for (const token of tokens) read.push(token)
    }
  }
  return importedTrajectory(
    {
      format: document.schema_version,
      source: document as unknown as Json,
      metadata: {
        ...(document.trajectory_id ? { trajectory_id: document.trajectory_id } : {}),
        ...(document.session_id ? { session_id: document.session_id } : {}),
        agent: document.agent as unknown as Json,
        ...(document.notes ? { notes: document.notes } : {}),
        ...(document.final_metrics ? { final_metrics: document.final_metrics } : {}),
        ...(document.extra ? { extra: document.extra } : {}),
      },
      taskId: own.task?.id ?? null,
      nodes,
      stopReason: withFinishes(own.stop_reason ?? 'done', document.steps.flatMap(finishOf)),
      failure: own.failure ?? null,
      reward: own.reward ?? { status: 'missing', value: null, parts: {}, reason: 'the record brought no reward' },
      train: own.train !== false,
    },
    options,
  )
}

/** How an answer ended, where our own documents say it; others have no field for it. */
function finishOf({ extra }: AtifStep): readonly (string | null)[] {
  const told = z.object({ finish: z.string().nullable() }).safeParse(extra)
  return told.success ? [told.data.finish] : []
}

type Unplaced = Omit<ImportedNode, 'parent'>

function nodesOf(step: AtifStep, read: readonly number[]): readonly Unplaced[] {
  const at = step.timestamp ? Date.parse(step.timestamp) : Number.NaN
  const base = { at: Number.isFinite(at) ? at : null, spans: [], sampled: false }
  const said = textOf(step.message)
  const results = (step.observation?.results ?? []).map(
    (result): Unplaced => ({ ...base, message: toolMessage(result, step) }),
  )
  if (step.source === 'agent') return [agentNode(step, base, read), ...results]
  // A system step may hold nothing but what a tool said.
  if (said === '' && results.length > 0) return results
  return [{ ...base, message: { role: step.source, content: said } }, ...results]
}

function agentNode(step: AtifStep, base: Unplaced | Omit<Unplaced, 'message'>, read: readonly number[]): Unplaced {
  const { metrics, is_copied_context: copied, llm_call_count: calls, extra } = step
  const sampled = copied !== true && calls !== 0 && extra?.sampled !== false
  const message: Message = {
    role: 'assistant',
    content: textOf(step.message),
    ...(step.tool_calls && step.tool_calls.length > 0
      ? {
          toolCalls: step.tool_calls.map(({ tool_call_id, function_name, arguments: args }) => ({
            id: tool_call_id,
            name: function_name || 'unnamed',
            arguments: args,
          })),
        }
      : {}),
    ...(step.reasoning_content ? { reasoning: step.reasoning_content } : {}),
  }
  const prompt = metrics?.prompt_token_ids ?? []
  const known = prompt.length >= read.length && read.every((token, i) => token === prompt[i])
  // A prompt that does not go on from what was read cannot be placed: then only its length would be true.
  const scaffold = metrics?.prompt_token_ids && known ? prompt.slice(read.length) : []
  const completion = known || !metrics?.prompt_token_ids ? (metrics?.completion_token_ids ?? []) : []
  const plain = sampled && (metrics?.extra?.temperature ?? null) === 1
  const spans = unflatten(
    [...scaffold, ...completion],
    [...scaffold.map(() => false), ...completion.map(() => true)],
    metrics?.logprobs ?? [],
    plain,
  )
  return { ...base, message, spans, sampled }
}

function toolMessage(
  result: NonNullable<AtifStep['observation']>['results'][number],
  { tool_calls }: AtifStep,
): Message {
  const call = tool_calls?.find(({ tool_call_id }) => tool_call_id === result.source_call_id)
  return {
    role: 'tool',
    content: textOf(result.content ?? ''),
    name: call?.function_name ?? '',
    ...(result.source_call_id ? { toolCallId: result.source_call_id } : {}),
    ...((result.extra as { is_error?: unknown } | undefined)?.is_error === true ? { isError: true } : {}),
  }
}

function textOf(content: AtifStep['message']): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('')
}
