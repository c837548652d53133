import { randomInt } from 'node:crypto'
import { requestError } from '../errors.ts'
import type { TrainerHost } from '../host.ts'
import type { LoraShape, StoredModel } from '../journal/events.ts'
import { CreateModel, LoadWeights, type LoraConfigBody, ModelRef, PathRef } from '../wire/bodies.ts'
import { readBody } from '../wire/read-body.ts'
import { accept, modelOf, sessionOf } from './accept.ts'
import { checkpointOf } from './checkpoints.ts'

/** `create_model`: an adapter over the base, which changes nothing yet. */
export async function createModel(host: TrainerHost, owner: string, value: unknown) {
  const body = readBody(CreateModel, value)
  if (body.base_model !== host.service.base) {
    throw requestError(
      'no-such-base',
      `This server has no base model ${JSON.stringify(body.base_model.slice(0, 200))}.`,
      `Give base_model as ${JSON.stringify(host.service.base)}.`,
      { status: 404, field: 'base_model' },
    )
  }
  const { lora_config } = body
  const model = newModel(host, owner, body, shapeOf(host, lora_config), lora_config.seed ?? randomInt(2 ** 31))
  const request_id = await acceptNew(host, model, { kind: 'create_model' }, body)
  return { request_id, model_id: model.id, base_model: body.base_model, lora_config, status: 'created' }
}

/** `load_weights`: into a model, or into a new one of the checkpoint's shape. */
export async function loadWeights(host: TrainerHost, owner: string, value: unknown) {
  const body = readBody(LoadWeights, value)
  const { path, optimizer, seq_id } = body
  const checkpoint = checkpointOf(host, owner, path, 'path')
  const work = { kind: 'load_weights', path, optimizer } as const
  if (body.model_id == null) {
    const { session_id, model_seq_id } = body
    if (session_id == null) {
      throw requestError('invalid-request', 'Neither model_id nor session_id is there.', 'Give one of them.', {
        field: 'model_id',
      })
    }
    const model = newModel(host, owner, { session_id, model_seq_id }, checkpoint.lora, 0)
    return { request_id: await acceptNew(host, model, work, body), model_id: model.id }
  }
  const model = modelOf(host, owner, body.model_id)
  if (JSON.stringify(model.lora) !== JSON.stringify(checkpoint.lora)) {
    throw requestError(
      'other-shape',
      `${path} is a LoRA ${describe(checkpoint.lora)}, and the model ${model.id} one ${describe(model.lora)}.`,
      "Load it into a model that was created with the checkpoint's lora_config.",
      { field: 'path' },
    )
  }
  const subject = { kind: 'model', id: model.id } as const
  return { request_id: await accept(host, { owner, subject, seq: seq_id ?? null, work, body }), model_id: model.id }
}

/** `unload_model`: after everything that waits. */
export async function unloadModel(host: TrainerHost, owner: string, value: unknown) {
  const body = readBody(ModelRef, value)
  const { id } = modelOf(host, owner, body.model_id)
  const subject = { kind: 'model', id } as const
  const request_id = await accept(host, { owner, subject, seq: null, work: { kind: 'unload_model' }, body })
  return { request_id, model_id: id }
}

/** `get_info` of a model. */
export function modelInfo(host: TrainerHost, owner: string, value: unknown) {
  const { id, lora } = modelOf(host, owner, readBody(ModelRef, value).model_id)
  const { base } = host.service
  return {
    type: 'get_info',
    model_id: id,
    model_data: { arch: 'llama', model_name: base, tokenizer_id: base },
    model_name: base,
    is_lora: true,
    lora_rank: lora.rank,
  }
}

/** `weights_info` of a checkpoint: with what shape a model has to be created for it. */
export function weightsInfo(host: TrainerHost, owner: string, value: unknown) {
  const { lora } = checkpointOf(host, owner, readBody(PathRef, value).tinker_path, 'tinker_path')
  const has = (target: string) => lora.targets.includes(target)
  return {
    base_model: host.service.base,
    is_lora: true,
    lora_rank: lora.rank,
    train_unembed: has('lm_head'),
    train_mlp: has('gate'),
    train_attn: has('q'),
  }
}

/** A request that makes its model; the same one under the same number is the one before. */
async function acceptNew(
  host: TrainerHost,
  model: StoredModel,
  work: { readonly kind: 'create_model' } | { readonly kind: 'load_weights'; path: string; optimizer: boolean },
  body: unknown,
): Promise<string> {
  const { id, owner } = model
  const asked = { owner, subject: { kind: 'model', id } as const, seq: 0, work, body }
  if (host.state.models.has(id)) return accept(host, asked)
  const loaded = [...host.state.models.values()].filter((held) => held.model.owner === owner).length
  if (loaded >= host.limits.models) {
    throw requestError(
      'too-many-models',
      `This key has ${loaded} models loaded, as many as it may.`,
      'Unload one, or end its session.',
      { status: 429 },
    )
  }
  return accept(host, { ...asked, model })
}

function newModel(
  host: TrainerHost,
  owner: string,
  { session_id, model_seq_id }: { readonly session_id: string; readonly model_seq_id?: number | null | undefined },
  lora: LoraShape,
  seed: number,
): StoredModel {
  const session = sessionOf(host, owner, session_id).id
  // The SDK makes this id itself, too.
  const id = `${session}:train:${model_seq_id ?? randomInt(2 ** 40)}`
  return { id, owner, session, lora, seed, createdAt: host.clock.now() }
}

function shapeOf({ alpha, limits }: TrainerHost, config: LoraConfigBody): LoraShape {
  const { rank, train_attn, train_mlp, train_unembed } = config
  if (rank > limits.rank) {
    throw requestError('rank-too-large', `The rank ${rank} is above ${limits.rank}.`, 'Give a smaller rank.', {
      field: 'lora_config.rank',
    })
  }
  const targets = [
    ...(train_attn ? ['q', 'k', 'v', 'o'] : []),
    ...(train_mlp ? ['gate', 'up', 'down'] : []),
    ...(train_unembed ? ['lm_head'] : []),
  ]
  if (targets.length > 0) return { kind: 'lora', rank, alpha, targets }
  throw requestError('nothing-to-train', 'This lora_config trains no part of the model.', 'Train one part at least.', {
    field: 'lora_config',
  })
}

const describe = ({ rank, targets }: LoraShape): string => `of rank ${rank} on ${targets.join(', ')}`
