import { z } from 'zod'
import { Json } from '../core/index.ts'

/**
 * The Agent Trajectory Interchange Format, as far as Ratchet reads it: versions 1.0 to 1.8. What is written is 1.7.
 * Source: Harbor's RFC 0001 and its reference models (`harbor.models.trajectories`).
 */

const extra = z.record(z.string(), Json).nullish()
const content = z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().nullish() }))])

export const AtifStep = z.looseObject({
  step_id: z.int().positive(),
  timestamp: z.string().nullish(),
  source: z.enum(['system', 'user', 'agent']),
  model_name: z.string().nullish(),
  message: content,
  reasoning_content: z.string().nullish(),
  tool_calls: z
    .array(
      z.looseObject({ tool_call_id: z.string(), function_name: z.string(), arguments: z.record(z.string(), Json) }),
    )
    .nullish(),
  observation: z
    .looseObject({
      results: z.array(z.looseObject({ source_call_id: z.string().nullish(), content: content.nullish() })),
    })
    .nullish(),
  metrics: z
    .looseObject({
      prompt_tokens: z.int().nonnegative().nullish(),
      completion_tokens: z.int().nonnegative().nullish(),
      cached_tokens: z.int().nonnegative().nullish(),
      prompt_token_ids: z.array(z.int().nonnegative()).nullish(),
      completion_token_ids: z.array(z.int().nonnegative()).nullish(),
      logprobs: z.array(z.number()).nullish(),
      extra,
    })
    .nullish(),
  is_copied_context: z.boolean().nullish(),
  llm_call_count: z.int().nonnegative().nullish(),
  extra,
})
export type AtifStep = z.infer<typeof AtifStep>

/** One document: one trajectory, linear. */
export const AtifTrajectory = z.looseObject({
  schema_version: z.string().regex(/^ATIF-v1\.[0-8]$/, 'a version from ATIF-v1.0 to ATIF-v1.8'),
  session_id: z.string().nullish(),
  trajectory_id: z.string().nullish(),
  agent: z.looseObject({
    name: z.string(),
    version: z.string(),
    model_name: z.string().nullish(),
    tool_definitions: z.array(z.record(z.string(), Json)).nullish(),
    extra,
  }),
  steps: z.array(AtifStep).min(1),
  notes: z.string().nullish(),
  final_metrics: z.record(z.string(), Json).nullish(),
  extra,
})
export type AtifTrajectory = z.infer<typeof AtifTrajectory>
