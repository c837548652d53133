import { z } from 'zod'
import { BlobHash } from '../../core/index.ts'

/*
 * What the trainer server writes down. An event is one line of JSON; what it says happened together, and is read back whole
 * or not at all.
 */

const Id = z.string()
/** Looked at by a plain loop: a day's training is hundreds of millions of them. */
const Numbers = z.custom<number[]>((value) => Array.isArray(value) && allFinite(value), 'no array of finite numbers')

function allFinite(values: readonly unknown[]): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return false
  return true
}

const Loss = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('cross_entropy') }),
  z.strictObject({ kind: z.literal('importance_sampling') }),
  z.strictObject({ kind: z.literal('ppo'), clipLow: z.number(), clipHigh: z.number() }),
  z.strictObject({ kind: z.literal('cispo'), clipLow: z.number(), clipHigh: z.number() }),
])
const Datum = z.strictObject({
  input: Numbers,
  target: Numbers,
  weights: Numbers.exactOptional(),
  logprobs: Numbers.exactOptional(),
  advantages: Numbers.exactOptional(),
})
const Adam = z.strictObject({
  learningRate: z.number(),
  beta1: z.number(),
  beta2: z.number(),
  eps: z.number(),
  weightDecay: z.number(),
  gradClipNorm: z.number().exactOptional(),
})
const SamplingParams = z.strictObject({
  maxTokens: z.int(),
  temperature: z.number(),
  topK: z.int().exactOptional(),
  topP: z.number().exactOptional(),
  stop: z.array(z.string()).exactOptional(),
  stopTokens: z.array(z.int()).exactOptional(),
  seed: z.int(),
})

/** What is to be done for a request. */
export const Work = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('create_model') }),
  z.strictObject({ kind: z.literal('pass'), data: z.array(Datum), loss: Loss, forwardOnly: z.boolean() }),
  z.strictObject({ kind: z.literal('optim_step'), params: Adam }),
  z.strictObject({ kind: z.literal('save_weights'), name: z.string() }),
  /** Under a name, or for a sampling session. */
  z.strictObject({ kind: z.literal('save_for_sampler'), name: z.string().nullable(), sampler: Id.nullable() }),
  z.strictObject({ kind: z.literal('load_weights'), path: z.string(), optimizer: z.boolean() }),
  z.strictObject({ kind: z.literal('unload_model') }),
  z.strictObject({
    kind: z.literal('sample'),
    prompt: Numbers,
    params: SamplingParams,
    samples: z.int(),
    promptLogprobs: z.boolean(),
  }),
])
export type Work = z.infer<typeof Work>

export const LoraShape = z.strictObject({
  kind: z.literal('lora'),
  rank: z.int(),
  alpha: z.number(),
  targets: z.array(z.string()),
})
export type LoraShape = z.infer<typeof LoraShape>

export const StoredSession = z.strictObject({ id: Id, owner: z.string() })
export type StoredSession = z.infer<typeof StoredSession>

export const StoredModel = z.strictObject({
  id: Id,
  owner: z.string(),
  session: Id,
  lora: LoraShape,
  seed: z.int(),
  createdAt: z.number(),
})
export type StoredModel = z.infer<typeof StoredModel>

export const StoredSampler = z.strictObject({
  id: Id,
  owner: z.string(),
  session: Id,
  /** `null`: the base model. */
  weights: z.strictObject({ blob: BlobHash, lora: LoraShape }).nullable(),
  path: z.string().nullable(),
})
export type StoredSampler = z.infer<typeof StoredSampler>

export const StoredCheckpoint = z.strictObject({
  path: z.string(),
  owner: z.string(),
  model: Id,
  name: z.string(),
  lora: LoraShape,
  weights: BlobHash,
  /** `null` where it is for samplers: no optimizer. */
  state: BlobHash.nullable(),
  bytes: z.int(),
  at: z.number(),
})
export type StoredCheckpoint = z.infer<typeof StoredCheckpoint>

export const StoredRequest = z.strictObject({
  id: Id,
  owner: z.string(),
  /** The model or the sampler whose request it is. */
  subject: z.strictObject({ kind: z.enum(['model', 'sampler']), id: Id }),
  seq: z.int().nullable(),
  /** Of what was asked: a repeated request is known by it. */
  hash: z.string(),
  /** `null` once it need not be done again. */
  work: Work.nullable(),
})
export type StoredRequest = z.infer<typeof StoredRequest>

const PassResult = z.strictObject({
  kind: z.literal('pass'),
  logprobs: z.array(Numbers),
  losses: z.array(Numbers).nullable(),
  metrics: z.record(z.string(), z.number()),
})
export type PassResult = z.infer<typeof PassResult>
const SampleResult = z.strictObject({
  kind: z.literal('sample'),
  sequences: z.array(
    z.strictObject({ tokens: Numbers, logprobs: Numbers, stopReason: z.enum(['stop', 'length', 'cancelled']) }),
  ),
  promptLogprobs: z.array(z.number().nullable()).nullable(),
})
export type SampleResult = z.infer<typeof SampleResult>
const PlainResult = z.strictObject({ kind: z.literal('plain'), body: z.record(z.string(), z.json()) })
const Failure = z.strictObject({
  kind: z.literal('failed'),
  message: z.string(),
  category: z.enum(['user', 'server']),
  /** Of the error; there is none of a request that was given up with its model or its session. */
  code: z.string().exactOptional(),
})
/** How a request ended. */
export const Outcome = z.discriminatedUnion('kind', [PassResult, SampleResult, PlainResult, Failure])
export type Outcome = z.infer<typeof Outcome>

/** Requests of one model, or one of a sampler, that were done in one go, in this order, with all that came of it. */
export const Settled = z.strictObject({
  type: z.literal('settled'),
  requests: z.array(z.strictObject({ id: Id, outcome: Outcome })),
  at: z.number(),
  sampler: StoredSampler.exactOptional(),
  checkpoint: StoredCheckpoint.exactOptional(),
  /** The model's training state after it: nothing before is needed to have it again. */
  snapshot: z.strictObject({ model: Id, state: BlobHash }).exactOptional(),
  /** The model that is no more. */
  unloaded: Id.exactOptional(),
})
export type Settled = z.infer<typeof Settled>

export const TrainerEvent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('session'), session: StoredSession }),
  z.strictObject({ type: z.literal('accepted'), request: StoredRequest, model: StoredModel.exactOptional() }),
  z.strictObject({
    type: z.literal('model'),
    model: StoredModel,
    snapshot: BlobHash.nullable(),
    passed: z.int(),
  }),
  z.strictObject({ type: z.literal('sampler'), sampler: StoredSampler }),
  z.strictObject({ type: z.literal('checkpoint'), checkpoint: StoredCheckpoint }),
  Settled,
  /** They are about to be done. One that was begun and is not settled was under way when the process ended. */
  z.strictObject({ type: z.literal('begun'), requests: z.array(Id) }),
  /** They were begun, and put back: by a server that closed, or because another was taken that comes before them. */
  z.strictObject({ type: z.literal('put-back'), requests: z.array(Id) }),
  z.strictObject({ type: z.literal('checkpoint-deleted'), path: z.string() }),
  z.strictObject({ type: z.literal('session-ended'), session: Id, at: z.number() }),
])
export type TrainerEvent = z.infer<typeof TrainerEvent>
