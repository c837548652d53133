import type { BlobHash, Saved, Trainer } from '../../core/index.ts'
import { absent, samplerNumberReused } from '../errors.ts'
import type { Outcome, Settled, StoredCheckpoint, StoredModel, StoredSampler, Work } from '../journal/events.ts'
import { passResult } from './pass-result.ts'
import type { Step } from './steps.ts'

/** What came of a step, but for when. */
export type Done = Omit<Settled, 'type' | 'at'>

/** Where steps put and find what outlasts them. */
export interface WorkPlace {
  /** Keeps what a trainer saved; resolves when it is on the disk. */
  readonly keep: (saved: Saved) => Promise<BlobHash>
  readonly blob: (hash: BlobHash) => Promise<Uint8Array>
  readonly checkpoint: (path: string, owner: string) => StoredCheckpoint | null
  readonly hasSampler: (id: string) => boolean
  readonly now: () => number
}

/** Does one step on a model's trainer. @throws what the trainer throws. */
export async function carryOut(step: Step, trainer: Trainer, model: StoredModel, place: WorkPlace): Promise<Done> {
  if (step.kind === 'one') return carryOutOne(step.request.id, step.work, trainer, model, place)
  const { logprobs } = await trainer.forwardBackward(step.data, step.loss)
  let from = 0
  const requests = step.requests.map(({ id }, i) => {
    const to = from + (step.sizes[i] ?? 0)
    const outcome = passResult(step.data.slice(from, to), logprobs.slice(from, to), step.loss)
    from = to
    return { id, outcome }
  })
  return { requests }
}

async function carryOutOne(
  id: string,
  work: Work,
  trainer: Trainer,
  model: StoredModel,
  place: WorkPlace,
): Promise<Done> {
  const done = (outcome: Outcome, more: Omit<Done, 'requests'> = {}): Done => ({
    requests: [{ id, outcome }],
    ...more,
  })
  switch (work.kind) {
    case 'create_model':
      return done(plain({ model_id: model.id, type: 'create_model' }))
    case 'pass': {
      const logprobs = await trainer.forward(work.data)
      return done(passResult(work.data, logprobs, work.loss))
    }
    case 'optim_step': {
      const { gradNorm, step } = await trainer.optimStep(work.params)
      return done(plain({ metrics: { step, ...(gradNorm === null ? {} : { grad_norm: gradNorm }) } }))
    }
    case 'save_weights': {
      // As at other Tinker servers: a gradient that waits for its step stays with the model.
      const [state, weights] = [await trainer.saveState('left out'), await trainer.saveWeights()]
      const checkpoint = await kept(model, { kind: 'weights', name: work.name, state, weights }, place)
      return done(plain({ path: checkpoint.path, type: 'save_weights' }), { checkpoint })
    }
    case 'save_for_sampler': {
      const weights = await trainer.saveWeights()
      const type = 'save_weights_for_sampler'
      if (work.name !== null) {
        const checkpoint = await kept(model, { kind: 'sampler_weights', name: work.name, state: null, weights }, place)
        return done(plain({ path: checkpoint.path, type }), { checkpoint })
      }
      if (work.sampler !== null && place.hasSampler(work.sampler)) throw samplerNumberReused(work.sampler)
      const sampler = await served(model, work.sampler ?? id, weights, place)
      return done(plain({ path: null, sampling_session_id: sampler.id, type }), { sampler })
    }
    case 'load_weights': {
      const checkpoint = place.checkpoint(work.path, model.owner)
      if (checkpoint === null) throw absent('checkpoint', work.path, 'path')
      const whole = work.optimizer && checkpoint.state !== null ? checkpoint.state : null
      const bytes = await place.blob(whole ?? checkpoint.weights).catch((error: unknown) => {
        // It was deleted while it was read.
        throw place.checkpoint(work.path, model.owner) === null ? absent('checkpoint', work.path, 'path') : error
      })
      await (whole === null ? trainer.loadWeights(bytes) : trainer.loadState(bytes))
      return done(plain({ path: work.path, model_id: model.id, type: 'load_weights' }))
    }
    case 'unload_model':
      return done(plain({ model_id: model.id, type: 'unload_model' }), { unloaded: model.id })
    case 'sample':
      throw new TypeError('A sample is no request of a model.')
  }
}

const plain = (body: Extract<Outcome, { kind: 'plain' }>['body']): Outcome => ({ kind: 'plain', body })

async function kept(
  { id, owner, lora }: StoredModel,
  { kind, name, state, weights }: { kind: string; name: string; state: Saved | null; weights: Saved },
  { keep, now }: WorkPlace,
): Promise<StoredCheckpoint> {
  const sizeOf = (saved: Saved | null) => (saved instanceof Uint8Array ? saved.length : 0)
  return {
    path: `tinker://${id}/${kind}/${name}`,
    owner,
    model: id,
    name: `${kind}/${name}`,
    lora,
    weights: await keep(weights),
    state: state === null ? null : await keep(state),
    bytes: sizeOf(state) + sizeOf(weights),
    at: now(),
  }
}

const served = async (
  { owner, session, lora }: StoredModel,
  id: string,
  weights: Saved,
  { keep }: WorkPlace,
): Promise<StoredSampler> => ({ id, owner, session, weights: { blob: await keep(weights), lora }, path: null })
