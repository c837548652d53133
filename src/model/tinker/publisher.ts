import type { AdapterRef } from '../../core/index.ts'
import { malformed, unsupported } from './failures.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { ServerTraits } from './server-kind.ts'
import type { TinkerSession } from './session.ts'
import type { LoraShape, TinkerModel } from './tinker-model.ts'
import type { SamplingSession, TinkerSampler } from './tinker-sampler.ts'

export interface PublisherOptions {
  readonly session: TinkerSession
  readonly sampler: TinkerSampler
  readonly checkpoints: Checkpoints
  readonly publishes: ServerTraits['publishes']
}

/**
 * Puts weights where samples are drawn from, so that a reference never changes its meaning (invariant 11). SkyRL's JAX
 * backend samples from the slot that is trained, whatever the sampling session was opened for: there, weights that are
 * published get a model of their own, which is never trained and is unloaded with its reference.
 */
export class Publisher {
  readonly #options: PublisherOptions

  constructor(options: PublisherOptions) {
    this.#options = options
  }

  /** The weights of a model as they are now. */
  async publish(model: TinkerModel, shape: LoraShape): Promise<AdapterRef> {
    const { publishes, checkpoints } = this.#options
    if (publishes === 'in-place') return this.#hold(await this.#sampling(model))
    const path = await model.save('published')
    try {
      return await this.#ownModel(path, shape)
    } finally {
      await checkpoints.remove(path).catch(() => {})
    }
  }

  /** Weights that a trainer saved. */
  async load(path: string): Promise<AdapterRef> {
    const rank = await this.#options.session.rankOf(path)
    if (rank === null) throw unsupported(`sampling from ${path}, which is no LoRA.`, 'Give what a trainer here saved.')
    return this.#ownModel(path, { rank, seed: 0, parts: {} })
  }

  async #ownModel(path: string, shape: LoraShape): Promise<AdapterRef> {
    const { session, publishes } = this.#options
    const model = await session.createModel(shape)
    const unload = () => session.unloadModel(model)
    try {
      await model.load(path, false)
      const sampling = await this.#sampling(model)
      if (publishes === 'own-model') return this.#hold({ ...sampling, release: () => sampling.release().then(unload) })
      await unload()
      return this.#hold(sampling)
    } catch (error) {
      await unload()
      throw error
    }
  }

  /** A server keeps what it samples from as a checkpoint of its own: it is deleted with the reference. */
  async #sampling(model: TinkerModel): Promise<SamplingSession> {
    const { session, checkpoints } = this.#options
    const { sampling_session_id: given, path } = await model.sampling(session.nextSampling())
    const sampling = given ?? (path ? await session.samplingSession({ model_path: path }) : null)
    if (sampling === null) throw malformed('save_weights_for_sampler', 'neither a sampling_session_id nor a path')
    return {
      session: sampling,
      release: async () => {
        const kept = path ?? (await session.pathOf(sampling))
        if (kept?.startsWith(`tinker://${model.id}/sampler_weights/`)) await checkpoints.discard(kept)
      },
    }
  }

  #hold(served: SamplingSession): AdapterRef {
    return this.#options.sampler.hold(served)
  }
}
