import { randomInt } from 'node:crypto'
import { RatchetError } from '../../errors/index.ts'
import { validateRequest } from '../../model/index.ts'
import { requestError, samplerNumberReused } from '../errors.ts'
import type { TrainerHost } from '../host.ts'
import type { StoredSampler } from '../journal/events.ts'
import { CreateSamplingSession, Sample } from '../wire/bodies.ts'
import { readBody } from '../wire/read-body.ts'
import { accept, samplerOf, sessionOf } from './accept.ts'
import { checkpointOf } from './checkpoints.ts'
import { inTurn } from './in-turn.ts'
import { samplerId } from './training.ts'

/** `create_sampling_session`: of the base model, or of a checkpoint. The same one under its number is the one before. */
export async function createSamplingSession(host: TrainerHost, owner: string, value: unknown) {
  const { session_id, sampling_session_seq_id, base_model, model_path } = readBody(CreateSamplingSession, value)
  const session = sessionOf(host, owner, session_id).id
  const id = samplerId(session, sampling_session_seq_id)
  const weights = model_path == null ? null : checkpointOf(host, owner, model_path, 'model_path')
  if (weights === null && base_model !== host.service.base) {
    throw requestError(
      'no-such-base',
      `This server has no base model ${JSON.stringify((base_model ?? '').slice(0, 200))}.`,
      `Give model_path, or base_model as ${JSON.stringify(host.service.base)}.`,
      { status: 404, field: 'base_model' },
    )
  }
  const sampler: StoredSampler = {
    id,
    owner,
    session,
    weights: weights && { blob: weights.weights, lora: weights.lora },
    path: model_path ?? null,
  }
  await inTurn(host, `sampler ${id}`, async () => {
    const before = host.state.samplers.get(id)
    if (before === undefined) return host.addSampler(sampler)
    const same = before.path === sampler.path && before.weights?.blob === sampler.weights?.blob
    if (!same) throw samplerNumberReused(id)
  })
  return { sampling_session_id: id, type: 'create_sampling_session' }
}

/** GET `samplers/{id}`. */
export function samplerInfo(host: TrainerHost, owner: string, id: string) {
  const { path } = samplerOf(host, owner, id)
  return { sampler_id: id, base_model: host.service.base, model_path: path }
}

const absentFeatures = ['topk_prompt_logprobs', 'topk_sample_logprobs', 'prompt_alt_tokens_k'] as const

/** `asample`: everything that could be wrong is found before it is taken. A seed is drawn where none is told. */
export async function sample(host: TrainerHost, owner: string, value: unknown) {
  const body = readBody(Sample, value)
  const sampler = samplerOf(host, owner, body.sampling_session_id ?? '')
  const wanted =
    absentFeatures.find((name) => (body[name] ?? 0) > 0) ??
    (body.target_prompt_logprobs == null ? undefined : 'target_prompt_logprobs')
  if (wanted !== undefined) {
    throw requestError('not-supported', `This server does not tell ${wanted}.`, 'Leave it out.', { field: wanted })
  }
  const { capabilities } = host.service.sampler
  const { prompt, num_samples: samples, sampling_params: asked } = body
  const room = capabilities.contextLength - prompt.length
  const stop = typeof asked.stop === 'string' ? [asked.stop] : (asked.stop ?? [])
  const texts = stop.filter((one) => typeof one === 'string')
  const tokens = stop.filter((one) => typeof one === 'number')
  const params = {
    maxTokens: Math.max(1, Math.min(asked.max_tokens ?? room, room)),
    temperature: asked.temperature,
    seed: asked.seed ?? randomInt(2 ** 47),
    ...(asked.top_k > 0 ? { topK: asked.top_k } : {}),
    ...(asked.top_p < 1 ? { topP: asked.top_p } : {}),
    ...(texts.length > 0 ? { stop: texts } : {}),
    ...(tokens.length > 0 ? { stopTokens: tokens } : {}),
  }
  try {
    validateRequest({ prompt, adapter: null, params, samples }, capabilities)
  } catch (error) {
    if (!RatchetError.is(error)) throw error
    throw requestError('invalid-sample', error.message, error.hint, { field: 'prompt' })
  }
  const work = { kind: 'sample', prompt, params, samples, promptLogprobs: body.prompt_logprobs === true } as const
  const subject = { kind: 'sampler', id: sampler.id } as const
  const request_id = await accept(host, { owner, subject, seq: body.seq_id ?? null, work, body })
  return { request_id, sample_sequence_ids: Array.from({ length: samples }, (_, i) => `${request_id}:${i}`) }
}
