import { z } from 'zod'
import type { Pass, PassOutput, SampleOutput } from './pass.ts'

/*
 * The JSON of the Tinker protocol, read from the pydantic models of SkyRL 0.4.0 and of the official Python SDK 0.25.0.
 * Objects are open: servers add fields.
 */

const Id = z.string().regex(/^[\x21-\x7e]{1,255}$/)

/** A checkpoint's address: `tinker://RUN/weights/NAME`. */
export const TinkerUri = z.string().regex(/^tinker:\/\/[\x21-\x7e]{1,2000}$/)

/** A bound beyond which nothing would be compared is none. */
const Agreement = z.number().positive().max(0.1).optional().catch(undefined)

/**
 * `agreement` is Ratchet's own: how far log-probabilities of a sampler may be from those of its trainer, where both round on
 * the way.
 */
export const Capabilities = z.object({
  supported_models: z.array(z.object({ model_name: z.string(), agreement: Agreement })).max(10_000),
})
export const SessionCreated = z.object({ session_id: Id, error_message: z.string().nullish() })
export const FutureCreated = z.object({ request_id: Id })
export const ModelCreated = z.object({ model_id: Id, request_id: Id })
export const Anything = z.unknown()
export const Saved = z.object({ path: TinkerUri })
export const SavedForSampler = z.object({ path: TinkerUri.nullish(), sampling_session_id: Id.nullish() })
export const SamplingSessionCreated = z.object({ sampling_session_id: Id })
/** A sampling session; a path where its weights are kept. */
export const SamplerInfo = z.object({ model_path: TinkerUri.nullish() })
export const Metrics = z.object({ metrics: z.record(z.string(), z.number().nullable()).nullish() })
export const WeightsInfo = z.object({ base_model: z.string(), lora_rank: z.int().positive().nullish() })
export const CheckpointList = z.object({
  checkpoints: z
    .array(
      z.object({ checkpoint_id: z.string(), checkpoint_type: z.string(), tinker_path: TinkerUri, time: z.string() }),
    )
    .max(100_000),
})

/** An answer of `retrieve_future` that is no result yet, or none at all. */
export const NotYet = z.object({ type: z.literal('try_again'), ...queueState() })
export const QueueState = z.object(queueState())
export const Failed = z.object({ error: z.string() })

function queueState() {
  return { queue_state: z.string().nullish(), queue_state_reason: z.string().nullish() }
}

const Tensor = z.object({ data: z.array(z.number()) })

/** The result of a pass; only its log-probabilities are used, because losses follow from them. */
export const PassResult = z
  .object({ loss_fn_outputs: z.array(z.object({ logprobs: Tensor })) })
  .transform(({ loss_fn_outputs }): PassOutput => ({ logprobs: loss_fn_outputs.map(({ logprobs }) => logprobs.data) }))

export const SampleResult = z
  .object({
    sequences: z.array(
      z.object({ stop_reason: z.enum(['stop', 'length']), tokens: z.array(z.int()), logprobs: z.array(z.number()) }),
    ),
  })
  .transform(
    ({ sequences }): SampleOutput => ({
      sequences: sequences.map(({ stop_reason, tokens, logprobs }) => ({ tokens, logprobs, stopReason: stop_reason })),
    }),
  )

const tensor = (dtype: 'int64' | 'float32', data: readonly number[]) => ({ data, dtype, shape: [data.length] })

/** A prompt, or the tokens of a datum. */
export const modelInput = (tokens: readonly number[]) => ({ chunks: [{ type: 'encoded_text', tokens }] })

/** The body of a pass in JSON, which has an endpoint for passes that accumulate nothing. */
export function passJson({ modelId, seqId, data, loss, config, forwardOnly }: Pass) {
  const input = {
    data: data.map(({ input: tokens, target, floats }) => ({
      model_input: modelInput(tokens),
      loss_fn_inputs: {
        target_tokens: tensor('int64', target),
        ...Object.fromEntries(Object.entries(floats).map(([name, values]) => [name, tensor('float32', values)])),
      },
    })),
    loss_fn: loss,
    ...(Object.keys(config).length === 0 ? {} : { loss_fn_config: config }),
  }
  return {
    path: forwardOnly ? '/forward' : '/forward_backward',
    body: { model_id: modelId, seq_id: seqId, [forwardOnly ? 'forward_input' : 'forward_backward_input']: input },
  }
}
