import { InputError } from '../../errors/index.ts'
import type { OnTinkerEvent } from './events.ts'
import { malformed } from './failures.ts'
import type { PassWire } from './pass-wire.ts'
import { json, type Requests } from './requests.ts'
import { type LoraShape, post, TinkerModel } from './tinker-model.ts'
import {
  Anything,
  Capabilities,
  ModelCreated,
  SamplerInfo,
  SamplingSessionCreated,
  SessionCreated,
  WeightsInfo,
} from './wire.ts'

export interface SessionOptions {
  readonly requests: Requests
  readonly wire: PassWire
  /** As the server calls it. */
  readonly baseModel: string
  readonly heartbeatMs: number
  readonly onEvent: OnTinkerEvent
}

/** Whoever closes a model has no time to wait for a server that is gone. */
const closingMs = 5_000

/**
 * A session at a Tinker server: what owns models there. It shows every ten seconds that it lives; a server unloads the models
 * of a session that does not (SkyRL after 300 s), so nothing stays behind when this process is killed.
 */
export class TinkerSession {
  /** How near the server says that log-probabilities of sampler and trainer come; `null`: not told. */
  readonly agreement: number | null
  readonly #options: SessionOptions
  readonly #id: string
  readonly #heartbeat: NodeJS.Timeout
  readonly #models = new Set<TinkerModel>()
  #beating = false
  #modelSeq = 0
  #samplingSeq = 0

  private constructor(id: string, agreement: number | null, options: SessionOptions) {
    this.#id = id
    this.agreement = agreement
    this.#options = options
    this.#heartbeat = setInterval(() => void this.#beat(), options.heartbeatMs)
    this.#heartbeat.unref()
  }

  /**
   * Opens a session.
   * @throws InputError `model/tinker-base-model` when the server does not have the base model.
   * @throws TinkerError
   */
  static async open(options: SessionOptions): Promise<TinkerSession> {
    const { requests, baseModel } = options
    const get = { method: 'GET', path: '/get_server_capabilities' } as const
    const { supported_models } = await requests.ask(get, 'get_server_capabilities', json(Capabilities))
    const names = supported_models.map(({ model_name }) => model_name)
    const known = supported_models.find(({ model_name }) => model_name === baseModel)
    if (!known) {
      throw new InputError({
        code: 'model/tinker-base-model',
        message: `The Tinker server has no base model ${JSON.stringify(baseModel)}.`,
        hint: `Give as model what the server calls it (in a program: baseModel): ${names.slice(0, 20).join(', ')}.`,
      })
    }
    const body = { tags: ['ratchet'], user_metadata: {}, sdk_version: 'ratchet', type: 'create_session' }
    const created = await requests.ask(post('/create_session', body), 'create_session', json(SessionCreated))
    const { session_id, error_message } = created
    if (error_message) throw malformed('create_session', `the error ${error_message.slice(0, 500)}`)
    return new TinkerSession(session_id, known.agreement ?? null, options)
  }

  /** A new model over the base; it is unloaded with the session, at the latest. */
  async createModel({ rank, seed, parts }: LoraShape): Promise<TinkerModel> {
    const { requests, wire, baseModel } = this.#options
    const body = {
      session_id: this.#id,
      model_seq_id: this.#modelSeq++,
      base_model: baseModel,
      lora_config: { rank, seed, ...parts },
      type: 'create_model',
    }
    const taken = { taken: ModelCreated }
    const { answer, result } = await requests.start(post('/create_model', body), 'create_model', json(Anything), taken)
    const model = new TinkerModel(answer.model_id, requests, wire)
    this.#models.add(model)
    await result
    return model
  }

  /** Frees a model; what cannot be freed now is with the session. */
  async unloadModel(model: TinkerModel, withinMs = 60_000): Promise<void> {
    if (!this.#models.delete(model)) return
    await model.unload(AbortSignal.timeout(withinMs)).catch((error: Error) => {
      this.#options.onEvent({ type: 'left', what: `the model ${model.id}`, why: error.message })
    })
  }

  /** A session that draws samples from the base model, or from weights that were saved for samplers. */
  async samplingSession(from: { readonly base_model: string } | { readonly model_path: string }): Promise<string> {
    const seq = this.nextSampling()
    const body = { session_id: this.#id, sampling_session_seq_id: seq, ...from, type: 'create_sampling_session' }
    const request = post('/create_sampling_session', body)
    const read = json(SamplingSessionCreated)
    return (await this.#options.requests.ask(request, 'create_sampling_session', read)).sampling_session_id
  }

  /** Numbers sampling sessions. */
  nextSampling(): number {
    return this.#samplingSeq++
  }

  /** Where the weights of a sampling session are kept; `null`: not told, or nowhere. */
  async pathOf(sampling: string): Promise<string | null> {
    const get = { method: 'GET', path: `/samplers/${encodeURIComponent(sampling)}` } as const
    const soon = AbortSignal.timeout(closingMs)
    const asked = this.#options.requests.ask(get, 'get_sampler', json(SamplerInfo), soon)
    return asked.then(
      ({ model_path }) => model_path ?? null,
      () => null,
    )
  }

  /** The rank of saved weights; `null`: not told. */
  async rankOf(path: string): Promise<number | null> {
    const request = post('/weights_info', { tinker_path: path })
    return (await this.#options.requests.ask(request, 'weights_info', json(WeightsInfo))).lora_rank ?? null
  }

  /** Unloads what is loaded, as far as the server does it at once. */
  async close(): Promise<void> {
    clearInterval(this.#heartbeat)
    await Promise.all([...this.#models].map((model) => this.unloadModel(model, closingMs)))
  }

  /** Once: the next beat is the next try. One at a time, and none outlives the time until the next is due. */
  async #beat(): Promise<void> {
    if (this.#beating) return
    this.#beating = true
    const { requests, onEvent, heartbeatMs } = this.#options
    const body = { session_id: this.#id, type: 'session_heartbeat' }
    try {
      await requests.once(post('/session_heartbeat', body), 'session_heartbeat', AbortSignal.timeout(heartbeatMs))
    } catch (error) {
      onEvent({ type: 'heartbeat-failed', why: (error as Error).message })
    } finally {
      this.#beating = false
    }
  }
}
