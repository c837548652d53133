import { randomUUID } from 'node:crypto'
import type { AdamParams } from '../../core/index.ts'
import { malformed } from './failures.ts'
import type { Pass, PassOutput } from './pass.ts'
import type { PassWire } from './pass-wire.ts'
import { type Accepted, json, type Requests } from './requests.ts'
import type { HttpRequest } from './tinker-http.ts'
import { Anything, type FutureCreated, Metrics, Saved, SavedForSampler } from './wire.ts'
import type { z } from 'zod'

/** Which parts of the network an adapter is on; a server's own choice where one is not told. */
export interface LoraShape {
  readonly rank: number
  readonly seed: number
  readonly parts: Readonly<Partial<Record<'train_attn' | 'train_mlp' | 'train_unembed', boolean>>>
}

type Started<T> = Promise<Accepted<z.infer<typeof FutureCreated>, T>>

/** A model at the server: an adapter with its gradient and its optimizer. Requests are numbered in their order. */
export class TinkerModel {
  readonly id: string
  readonly #requests: Requests
  readonly #wire: PassWire
  #seq = 0

  constructor(id: string, requests: Requests, wire: PassWire) {
    this.id = id
    this.#requests = requests
    this.#wire = wire
  }

  /** Nothing was asked of it: weights can be loaded into it. */
  get isFresh(): boolean {
    return this.#seq === 0
  }

  /** Sends a pass; its result comes later. */
  pass(pass: Omit<Pass, 'modelId' | 'seqId'>): Started<PassOutput> {
    return this.#wire.start({ ...pass, modelId: this.id, seqId: this.#next() })
  }

  /** The metrics that the server tells of the step. */
  async optimStep(params: AdamParams, clips: boolean): Promise<Readonly<Record<string, number | null>>> {
    const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0, gradClipNorm } = params
    const clip = clips && gradClipNorm !== undefined ? { grad_clip_norm: gradClipNorm } : {}
    const adam = { learning_rate: learningRate, beta1, beta2, eps, weight_decay: weightDecay, ...clip }
    const body = { model_id: this.id, seq_id: this.#next(), adam_params: adam, type: 'optim_step' }
    const answer = await this.#requests.run(post('/optim_step', body), 'optim_step', json(Metrics))
    return answer.metrics ?? {}
  }

  /** Saves weights and optimizer. @param label the beginning of the checkpoint's name. */
  async save(label: string): Promise<string> {
    const name = `${label}-${randomUUID().slice(0, 8)}`
    const body = { model_id: this.id, path: name, seq_id: this.#next(), type: 'save_weights' }
    const { path } = await this.#requests.run(post('/save_weights', body), 'save_weights', json(Saved))
    // A path that names another model's checkpoint would be loaded as ours later.
    if (path.startsWith(`tinker://${this.id}/`) && path.endsWith(`/${name}`)) return path
    throw malformed('save_weights', `the path ${path}, which is not of the model ${this.id} and the name ${name}`)
  }

  /** Loads what some model saved; it must be the first that is asked of this model. */
  async load(path: string, optimizer: boolean): Promise<void> {
    const body = { model_id: this.id, path, optimizer, seq_id: this.#next(), type: 'load_weights' }
    await this.#requests.run(post('/load_weights', body), 'load_weights', json(Anything))
  }

  /** Hands the weights as they are to a sampling session of their own. */
  async sampling(sessionSeq: number): Promise<z.infer<typeof SavedForSampler>> {
    const seq = { sampling_session_seq_id: sessionSeq, seq_id: this.#next() }
    const request = post('/save_weights_for_sampler', { model_id: this.id, ...seq, type: 'save_weights_for_sampler' })
    return this.#requests.run(request, 'save_weights_for_sampler', json(SavedForSampler))
  }

  async unload(signal: AbortSignal): Promise<void> {
    const request = post('/unload_model', { model_id: this.id, type: 'unload_model' })
    await this.#requests.run(request, 'unload_model', json(Anything), signal)
  }

  #next(): number {
    return ++this.#seq
  }
}

export const post = (path: string, body: Readonly<Record<string, unknown>>): HttpRequest => ({
  method: 'POST',
  path,
  body,
})
