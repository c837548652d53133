import { z } from 'zod'
import { assistantMessageOf, type Json, type Message, type Reward, StopReason } from '../core/index.ts'
import type { Imported } from './exchange.ts'
import { type ImportedNode, type ImportOptions, importedTrajectory, withFinishes } from './imported.ts'
import { unflatten } from './tokens.ts'
import type { VerifiersMessage, VerifiersTrace } from './verifiers-schema.ts'

/**
 * Reads a verifiers v1 trace. A node whose parent does not come before it becomes a root. The reward is the weighted sum
 * of its rewards; where one of them was not computed, or there are none, it is missing. What a trace of ours forbids learning
 * from is held out whatever the options say.
 */
export function fromVerifiers(trace: VerifiersTrace, options: ImportOptions): Imported {
  const samplingOf = new Map(trace.calls.flatMap(({ node, sampling }) => (node == null ? [] : [[node, sampling]])))
  const nodes = trace.nodes.map(
    ({ parent, message, sampled, timestamp, token_ids, mask, logprobs }, i): ImportedNode => {
      const plain = isPlain(samplingOf.get(i))
      return {
        parent: parent != null && parent < i ? parent : null,
        message: messageOf(message),
        spans: unflatten(
          token_ids,
          mask.length === token_ids.length ? mask : token_ids.map(() => false),
          logprobs,
          plain,
        ),
        at: momentOf(timestamp ?? null),
        sampled: sampled && message.role === 'assistant',
      }
    },
  )
  const [error] = trace.errors
  return importedTrajectory(
    {
      format: 'verifiers-v1',
      source: trace as unknown as Json,
      metadata: {
        id: trace.id,
        task: trace.task as unknown as Json,
        ...(trace.agent ? { agent: trace.agent } : {}),
        info: trace.info,
        metrics: trace.metrics,
        stop_condition: trace.stop_condition ?? null,
      },
      taskId: trace.task.key ?? trace.task.data.id ?? null,
      nodes,
      stopReason: stopReasonOf(trace),
      failure: error ? { code: error.type, message: error.message } : null,
      reward: rewardOf(trace),
      train: !Forbidden.safeParse(trace).success,
    },
    options,
  )
}

/** Whether tokens were drawn as the model has them. Where nothing is told, the server's defaults may have been anything. */
function isPlain(sampling: VerifiersTrace['calls'][number]['sampling']): boolean {
  if (sampling?.temperature !== 1) return false
  const { top_p: topP, top_k: topK, min_p: minP } = sampling
  return (topP ?? 1) === 1 && (topK ?? 0) <= 0 && (minP ?? 0) === 0
}

/** Seconds since the epoch, in milliseconds; `null` for what no calendar has. */
function momentOf(seconds: number | null): number | null {
  const at = (seconds ?? Number.NaN) * 1_000
  return Number.isNaN(new Date(at).getTime()) ? null : at
}

const Ours = z.object({ version: z.literal('ratchet') })

/** What our own traces say of what they may serve; other systems' do not match. */
const Forbidden = z.object({
  verifiers: Ours,
  agent: z.object({ trainable: z.literal(false) }),
})

/** Conditions by which verifiers stops an episode that spent a budget. */
const limits: Readonly<Record<string, StopReason>> = {
  max_turns: 'turn-budget',
  max_input_tokens: 'context-length',
  max_output_tokens: 'token-budget',
  max_total_tokens: 'token-budget',
  compaction_failed: 'agent-error',
}

function stopReasonOf({ stop_condition, is_timeout, ok, calls, verifiers }: VerifiersTrace): StopReason {
  const ours = StopReason.safeParse(stop_condition)
  const limit = Object.hasOwn(limits, stop_condition ?? '') ? limits[stop_condition ?? ''] : undefined
  const told = ours.success ? ours.data : is_timeout ? 'time-budget' : (limit ?? (ok ? 'done' : 'agent-error'))
  // Ours tell of every answer how it ended; of others, one that is not told says nothing.
  const untold = Ours.safeParse(verifiers).success ? null : 'stop'
  const said = calls.filter(({ node }) => node != null)
  return withFinishes(
    told,
    said.map(({ finish_reason: finish }) => finish ?? untold),
  )
}

/** A veto of ours stays one (invariant 5). */
const Veto = z.object({ vetoed_by: z.string(), because: z.string().catch('') })

function rewardOf({ rewards, metrics, info }: VerifiersTrace): Reward {
  const entries = Object.entries(rewards)
  const parts: Record<string, number | null> = { ...metrics }
  for (const [name, reward] of entries) parts[name] = reward === null ? null : reward.score * reward.weight
  const values = entries.map(([name]) => parts[name] ?? null)
  if (values.length > 0 && values.every((value) => value !== null)) {
    const value = values.reduce<number>((sum, part) => sum + part, 0)
    const veto = Veto.safeParse(info['ratchet'])
    if (veto.success) return { status: 'vetoed', value, parts, guard: veto.data.vetoed_by, reason: veto.data.because }
    return { status: 'scored', value, parts }
  }
  return { status: 'missing', value: null, parts, reason: 'the trace was not scored' }
}

function messageOf(message: VerifiersMessage): Message {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: textOf(message.content) }
    case 'tool':
      return {
        role: 'tool',
        content: textOf(message.content),
        name: message.name ?? '',
        ...(message.tool_call_id === '' ? {} : { toolCallId: message.tool_call_id }),
      }
    case 'assistant':
      return assistantMessageOf({
        content: message.content ?? '',
        reasoning_content: message.reasoning_content ?? null,
        tool_calls: (message.tool_calls ?? []).map(({ id, name, arguments: text }) => ({
          id,
          type: 'function',
          function: { name, arguments: text },
        })),
      })
  }
}

function textOf(content: Extract<VerifiersMessage, { role: 'user' }>['content']): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('')
}
