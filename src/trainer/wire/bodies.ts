import { z } from 'zod'
import { SamplingTemperature } from '../../model/index.ts'

/*
 * Bodies in JSON as the official Python SDK sends them (read in tinker 0.38.0; 0.25.0 differs in nothing that is read here).
 * Objects are open, because clients add fields.
 */

const Id = z.string().min(1).max(255)
const Seq = z.int().nonnegative()
export const CheckpointName = z.string().regex(/^[\w.-]{1,255}$/, 'letters, digits, "_", "-" and "."; at most 255')
const Tokens = z.array(z.int().nonnegative()).max(1_000_000)
const ModelInput = z
  .object({ chunks: z.array(z.object({ type: z.literal('encoded_text').default('encoded_text'), tokens: Tokens })) })
  .transform(({ chunks }) => chunks.flatMap(({ tokens }) => tokens))

const LoraConfig = z.object({
  rank: z.int().positive().max(1024),
  seed: z.int().nullish(),
  train_unembed: z.boolean().default(true),
  train_mlp: z.boolean().default(true),
  train_attn: z.boolean().default(true),
})
export type LoraConfigBody = z.infer<typeof LoraConfig>

export const SessionRef = z.object({ session_id: Id })
export const ModelRef = z.object({ model_id: Id })
export const FutureRef = z.object({ request_id: Id })
export const PathRef = z.object({ tinker_path: z.string().max(2048) })

export const CreateModel = z.object({
  session_id: Id,
  model_seq_id: Seq.nullish(),
  base_model: z.string().max(1024),
  lora_config: LoraConfig,
})

/** Into a model, or into a new one. */
export const LoadWeights = z.object({
  model_id: Id.nullish(),
  seq_id: Seq.nullish(),
  session_id: Id.nullish(),
  model_seq_id: Seq.nullish(),
  path: z.string().max(2048),
  optimizer: z.boolean(),
})

/** AdamW moves every weight by about as much a step: above it a model is not trained, but destroyed. */
const mostLearningRate = 10
const Adam = z.object({
  learning_rate: z.number().nonnegative().max(mostLearningRate).default(1e-4),
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1).default(0.95),
  eps: z.number().positive().default(1e-12),
  weight_decay: z.number().nonnegative().default(0),
  /** 0: no clipping. */
  grad_clip_norm: z.number().nonnegative().default(0),
})
export const OptimStep = z.object({ model_id: Id, seq_id: Seq.nullish(), adam_params: Adam })

export const SaveWeights = z.object({ model_id: Id, seq_id: Seq.nullish(), path: CheckpointName.nullish() })
export const SaveForSampler = z.object({
  model_id: Id,
  seq_id: Seq.nullish(),
  path: CheckpointName.nullish(),
  sampling_session_seq_id: Seq.nullish(),
})

export const CreateSamplingSession = z.object({
  session_id: Id,
  sampling_session_seq_id: Seq,
  base_model: z.string().nullish(),
  model_path: z.string().max(2048).nullish(),
})

const Stop = z.union([z.string().min(1), z.array(z.string().min(1)).max(64), z.array(z.int().nonnegative()).max(1024)])
const SamplingParams = z.object({
  max_tokens: z.int().positive().nullish(),
  seed: z.int().nullish(),
  stop: Stop.nullish(),
  temperature: SamplingTemperature.default(1),
  top_k: z.int().default(-1),
  top_p: z.number().gt(0).max(1).default(1),
})
export const Sample = z.object({
  sampling_session_id: Id.nullish(),
  seq_id: Seq.nullish(),
  num_samples: z.int().positive().max(4096).default(1),
  prompt: ModelInput,
  sampling_params: SamplingParams,
  prompt_logprobs: z.boolean().nullish(),
  /** What this server does not have; asked for, it is refused. */
  topk_prompt_logprobs: z.int().nullish(),
  topk_sample_logprobs: z.int().nullish(),
  prompt_alt_tokens_k: z.int().nullish(),
  target_prompt_logprobs: z.unknown().optional(),
})

const Tensor = z.object({
  data: z.array(z.number()).max(1_000_000),
  shape: z.array(z.int()).nullish(),
  sparse_crow_indices: z.null().optional(),
})
const PassInput = z.object({
  data: z
    .array(z.object({ model_input: ModelInput, loss_fn_inputs: z.record(z.string().max(64), Tensor) }))
    .max(100_000),
  loss_fn: z.string().max(64),
  loss_fn_config: z.record(z.string().max(64), z.number()).nullish(),
})
export type PassInputBody = z.infer<typeof PassInput>
export const ForwardBackward = z.object({ model_id: Id, seq_id: Seq.nullish(), forward_backward_input: PassInput })
export const Forward = z.object({ model_id: Id, seq_id: Seq.nullish(), forward_input: PassInput })
