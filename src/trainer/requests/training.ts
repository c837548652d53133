import { randomUUID } from 'node:crypto'
import { RatchetError } from '../../errors/index.ts'
import { validateData, validateLoss } from '../../model/index.ts'
import { requestError, samplerNumberReused } from '../errors.ts'
import type { TrainerHost } from '../host.ts'
import type { Work } from '../journal/events.ts'
import { OptimStep, SaveForSampler, SaveWeights } from '../wire/bodies.ts'
import { datumOf, lossOf, type PassBody } from '../wire/pass.ts'
import { readBody } from '../wire/read-body.ts'
import { accept, modelOf } from './accept.ts'

/** `forward_backward` and `forward`: everything that could be wrong is found before it is taken. */
export async function pass(host: TrainerHost, owner: string, body: PassBody) {
  const { id } = modelOf(host, owner, body.modelId)
  const given = lossOf(body.loss, body.config)
  const loss =
    given.kind === 'ppo' || given.kind === 'cispo'
      ? { kind: given.kind, clipLow: given.clipLow ?? 0.8, clipHigh: given.clipHigh ?? 1.2 }
      : { kind: given.kind }
  const data = body.data.map(datumOf)
  const { vocabularySize, contextLength } = host.service.sampler.capabilities
  const limits = { vocabSize: vocabularySize, maxPositions: contextLength }
  try {
    validateLoss({ clipLow: 0.8, clipHigh: 1.2, temperature: 1, ...loss })
    // A pass that only measures reads no more than the targets.
    validateData(data, body.forwardOnly ? 'cross_entropy' : loss.kind, limits)
  } catch (error) {
    if (!RatchetError.is(error)) throw error
    const index = data.findIndex((datum) => !isValid([datum], body.forwardOnly ? 'cross_entropy' : loss.kind, limits))
    const field = index < 0 ? 'loss_fn_config' : `data.${index}`
    throw requestError('invalid-data', `${error.message.replace(/[.]$/, '')}.`, error.hint, { field })
  }
  const work: Work = {
    kind: 'pass',
    data: data.map(({ input, target, weights, logprobs, advantages }) => ({
      input: [...input],
      target: [...target],
      ...(weights && { weights: [...weights] }),
      ...(logprobs && { logprobs: [...logprobs] }),
      ...(advantages && { advantages: [...advantages] }),
    })),
    loss,
    forwardOnly: body.forwardOnly,
  }
  return ask(host, owner, id, body.seqId, work)
}

function isValid(...given: Parameters<typeof validateData>): boolean {
  try {
    validateData(...given)
    return true
  } catch {
    return false
  }
}

/** `optim_step`. */
export async function optimStep(host: TrainerHost, owner: string, value: unknown) {
  const { model_id, seq_id, adam_params: adam } = readBody(OptimStep, value)
  const { id } = modelOf(host, owner, model_id)
  const params = {
    learningRate: adam.learning_rate,
    beta1: adam.beta1,
    beta2: adam.beta2,
    eps: adam.eps,
    weightDecay: adam.weight_decay,
    ...(adam.grad_clip_norm > 0 ? { gradClipNorm: adam.grad_clip_norm } : {}),
  }
  return ask(host, owner, id, seq_id, { kind: 'optim_step', params })
}

/** `save_weights`: weights and optimizer, under a name. */
export async function saveWeights(host: TrainerHost, owner: string, value: unknown) {
  const body = readBody(SaveWeights, value)
  const { id } = modelOf(host, owner, body.model_id)
  const name = body.path ?? `${body.seq_id ?? randomUUID()}`
  return ask(host, owner, id, body.seq_id, { kind: 'save_weights', name })
}

/** `save_weights_for_sampler`: under a name, or as a sampling session whose weights stay as they are. */
export async function saveForSampler(host: TrainerHost, owner: string, value: unknown) {
  const body = readBody(SaveForSampler, value)
  const { id, session } = modelOf(host, owner, body.model_id)
  const { sampling_session_seq_id: number, path } = body
  const sampler = number == null ? null : samplerId(session, number)
  const name = sampler === null ? (path ?? `${body.seq_id ?? randomUUID()}`) : null
  const guard = () => {
    if (sampler !== null && host.state.samplers.has(sampler)) throw samplerNumberReused(sampler)
  }
  return ask(host, owner, id, body.seq_id, { kind: 'save_for_sampler', name, sampler }, guard)
}

/** Sampling sessions are numbered within their session. */
export const samplerId = (session: string, number: number): string => `${session}:sample:${number}`

async function ask(
  host: TrainerHost,
  owner: string,
  id: string,
  seq: number | null | undefined,
  work: Work,
  guard = () => {},
) {
  const subject = { kind: 'model', id } as const
  return { request_id: await accept(host, { owner, subject, seq: seq ?? null, work, body: work, guard }), model_id: id }
}
