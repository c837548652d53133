import { z } from 'zod'
import { Json } from '../core/index.ts'

/**
 * The trace of verifiers v1 (schema version 1): a graph of messages with the tokens that each adds.
 * Source: PyPI `verifiers` 0.4, `verifiers.v1.trace` and `verifiers.v1.graph`.
 */

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().nullish() }))])
const tokens = z.array(z.int().nonnegative())

export const VerifiersMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content }),
  z.looseObject({ role: z.literal('user'), content }),
  z.looseObject({
    role: z.literal('assistant'),
    content: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    tool_calls: z.array(z.looseObject({ id: z.string(), name: z.string(), arguments: z.string() })).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content, name: z.string().nullish() }),
])
export type VerifiersMessage = z.infer<typeof VerifiersMessage>

export const VerifiersTrace = z.looseObject({
  version: z.literal(1),
  id: z.string(),
  task: z.looseObject({
    type: z.string(),
    data: z.looseObject({ id: z.string().nullish(), name: z.string().nullish() }),
    key: z.string().nullish(),
  }),
  agent: z.record(z.string(), Json).optional(),
  tools: z.array(z.record(z.string(), Json)).optional(),
  nodes: z.array(
    z.looseObject({
      parent: z.int().nonnegative().nullish(),
      message: VerifiersMessage,
      sampled: z.boolean().default(false),
      timestamp: z.number().nullish(),
      token_ids: tokens.default([]),
      mask: z.array(z.boolean()).default([]),
      logprobs: z.array(z.number()).default([]),
    }),
  ),
  calls: z
    .array(
      z.looseObject({
        node: z.int().nonnegative().nullish(),
        sampling: z
          .looseObject({
            temperature: z.number().nullish(),
            top_p: z.number().nullish(),
            top_k: z.number().nullish(),
            min_p: z.number().nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  rewards: z
    .record(z.string(), z.looseObject({ score: z.number(), weight: z.number().default(1) }).nullable())
    .default({}),
  metrics: z.record(z.string(), z.number().nullable()).default({}),
  info: z.record(z.string(), Json).default({}),
  ok: z.boolean().default(false),
  stop_condition: z.string().nullish(),
  is_timeout: z.boolean().default(false),
  errors: z.array(z.looseObject({ type: z.string(), message: z.string() })).default([]),
})
export type VerifiersTrace = z.infer<typeof VerifiersTrace>
