import type {
  AdamParams,
  AdapterRef,
  Datum,
  ForwardBackwardResult,
  Loss,
  OptimStepResult,
  Saved,
  Trainer,
  TrainerCapabilities,
  TrainerPath,
} from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { type DataLimits, validateData, validateLoss } from '../embedded/train/validate-data.ts'
import type { Checkpoints } from './checkpoints.ts'
import { type ChunkLimits, chunked } from './chunks.ts'
import { closed, diverged, gradientLost, unsupported } from './failures.ts'
import { counts, lossOf, type WireLoss, wireLoss } from './losses.ts'
import { checkedLogprobs } from './pass-logprobs.ts'
import { pathOf } from './path-of.ts'
import type { PassOutput } from './pass.ts'
import type { ServerTraits } from './server-kind.ts'
import { TinkerError } from './tinker-error.ts'
import type { TinkerModel } from './tinker-model.ts'

export interface TinkerTrainerOptions extends ChunkLimits {
  readonly limits: DataLimits
  readonly traits: ServerTraits
  readonly checkpoints: Checkpoints
  /** Opens another model of the same shape. */
  readonly create: () => Promise<TinkerModel>
  readonly unload: (model: TinkerModel) => Promise<void>
  /** Hands the weights of a model, as they are now, to the sampler. */
  readonly publish: (model: TinkerModel) => Promise<AdapterRef>
  /** Told once of an option that the server does not heed. */
  readonly ignored: (option: string, why: string) => void
}

/**
 * The Trainer behind a Tinker server. Calls run one after another, in the order they were made. What it saves stays at the
 * server: weights are never copied through this process. Loading takes a new model, because a server loads only into a
 * model of which nothing was asked; the old one is unloaded.
 */
export class TinkerTrainer implements Trainer {
  readonly capabilities: TrainerCapabilities
  readonly anchoring = null
  readonly #options: TinkerTrainerOptions
  #model: TinkerModel
  #queue: Promise<unknown> = Promise.resolve()
  #step = 0
  /** Sequences whose gradient is accumulated. */
  #accumulated = 0
  /** Why nobody knows what is accumulated; `null` where it is known. */
  #lost: { readonly cause: unknown } | null = null
  #closed: Promise<void> | null = null

  constructor(model: TinkerModel, options: TinkerTrainerOptions) {
    this.#model = model
    this.#options = options
    this.capabilities = {
      losses: ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'],
      temperatures: false,
      saves: 'paths',
      ...(options.traits.clipsGradients ? {} : { clipsGradients: false }),
    }
  }

  async forwardBackward(data: readonly Datum[], loss: Loss): Promise<ForwardBackwardResult> {
    const { limits, traits } = this.#options
    validateLoss({ clipLow: 0.8, clipHigh: 1.2, temperature: 1, ...loss })
    validateData(data, loss.kind, limits)
    if (data.some(({ auxiliary }) => auxiliary)) {
      throw unsupported('auxiliary targets.', 'Leave auxiliary tasks out, or use the embedded engine.')
    }
    const wire = wireLoss(loss, traits.reduction)
    return this.#exclusive(async () => {
      if (this.#lost !== null) throw gradientLost(this.#lost.cause)
      const outputs = await this.#passed(data, wire, false)
      this.#accumulated += data.length
      const all = this.#orLost(() =>
        data.map((datum, i) => checkedLogprobs(datum, outputs, i, (t) => counts(datum, loss.kind, t))),
      )
      return {
        loss: data.reduce((sum, datum, i) => sum + lossOf(datum, loss, all[i] ?? []), 0),
        logprobs: all,
        tokens: { data: data.reduce((sum, { input }) => sum + input.length, 0), computed: null },
      }
    })
  }

  async forward(data: readonly Datum[], temperature = 1): Promise<readonly (readonly number[])[]> {
    if (temperature !== 1)
      throw unsupported(`log-probabilities at temperature ${temperature}.`, 'Ask for temperature 1.')
    validateData(data, 'cross_entropy', this.#options.limits)
    const every = data.map(({ input, target }) => ({ input, target }))
    const wire = wireLoss({ kind: 'cross_entropy' }, 'sum')
    return this.#exclusive(async () => {
      const outputs = await this.#passed(every, wire, true)
      return every.map((datum, i) => checkedLogprobs(datum, outputs, i, () => true))
    })
  }

  /** `gradNorm` where the server tells it, for the sum over tokens. `grad_norm` of SkyRL is that of the mean. */
  async optimStep(params: AdamParams): Promise<OptimStepResult> {
    const { traits, ignored } = this.#options
    return this.#exclusive(async () => {
      if (this.#lost !== null) throw gradientLost(this.#lost.cause)
      if (params.gradClipNorm !== undefined && !traits.clipsGradients) {
        ignored('gradClipNorm', 'this server does not clip gradients')
      }
      const metrics = await this.#model.optimStep(params, traits.clipsGradients).catch((error: unknown) => {
        this.#lost = { cause: error }
        throw error
      })
      const factor = traits.reduction === 'sum' ? 1 : Math.max(1, this.#accumulated)
      this.#accumulated = 0
      const [name, norm] = Object.entries(metrics).find(([key]) => /(?:^|\W)grad_norm$/.test(key)) ?? []
      if (name !== undefined && norm === null) {
        this.#lost = { cause: diverged(name) }
        throw diverged(name)
      }
      return {
        gradNorm: norm === undefined || norm === null ? null : norm * factor,
        anchorPenalty: 0,
        step: ++this.#step,
      }
    })
  }

  async saveState(gradient: 'refused' | 'left out' = 'refused'): Promise<TrainerPath> {
    return this.#exclusive(async () => {
      if (this.#accumulated > 0 && gradient === 'refused') {
        throw new InputError({
          code: 'model/gradient-pending',
          message: 'The training state cannot be saved while a gradient is accumulated and not applied.',
          hint: 'Call optimStep first: a state lies between two optimizer steps.',
        })
      }
      if (this.#lost !== null) throw gradientLost(this.#lost.cause)
      return { at: 'trainer', uri: await this.#model.save(`state-${this.#step}`) }
    })
  }

  /** The count of steps is in the checkpoint's name: servers do not tell it. */
  async loadState(state: Saved): Promise<void> {
    const path = pathOf(state)
    return this.#exclusive(() => this.#load(path, true, Number(/\/state-(\d{1,15})-[^/]*$/.exec(path)?.[1] ?? 0)))
  }

  async saveWeights(): Promise<TrainerPath> {
    return this.#exclusive(async () => ({ at: 'trainer', uri: await this.#model.save('weights') }))
  }

  /** The optimizer begins anew, whatever `moments` asks: it cannot be kept. */
  async loadWeights(weights: Saved): Promise<void> {
    const path = pathOf(weights)
    return this.#exclusive(() => this.#load(path, false, 0))
  }

  async discard({ uri }: TrainerPath): Promise<void> {
    const path = pathOf({ at: 'trainer', uri })
    await this.#options.checkpoints.remove(path)
  }

  async publish(): Promise<AdapterRef> {
    return this.#exclusive(() => this.#options.publish(this.#model))
  }

  close(): Promise<void> {
    this.#closed ??= this.#queue.then(() => this.#options.unload(this.#model))
    return this.#closed
  }

  /**
   * The outputs of a pass over the data in as many requests as it takes. They are sent one after another, so that the
   * server takes them in order, and awaited together.
   */
  async #passed(data: readonly Datum[], wire: WireLoss, forwardOnly: boolean): Promise<readonly ArrayLike<number>[]> {
    const results: Promise<PassOutput>[] = []
    try {
      for (const chunk of chunked(data, this.#options)) {
        const { loss, config } = wire
        const pass = { data: chunk.map((datum) => wire.datum(datum)), loss, config, forwardOnly }
        results.push((await this.#model.pass(pass)).result)
      }
      return (await Promise.all(results)).flatMap(({ logprobs }) => logprobs)
    } catch (error) {
      await Promise.allSettled(results)
      // What was refused before anything was taken has left no gradient.
      const untouched = results.length === 0 && error instanceof TinkerError && error.code === 'model/tinker-refused'
      if (!forwardOnly && !untouched) this.#lost = { cause: error }
      throw error
    }
  }

  /** After an answer that cannot be believed, nobody knows what the gradient is of. */
  #orLost<T>(check: () => T): T {
    try {
      return check()
    } catch (error) {
      this.#lost = { cause: error }
      throw error
    }
  }

  async #load(path: string, optimizer: boolean, step: number): Promise<void> {
    const before = this.#model
    const model = before.isFresh ? before : await this.#options.create()
    try {
      await model.load(path, optimizer)
    } catch (error) {
      if (model !== before) await this.#options.unload(model)
      throw error
    }
    this.#model = model
    this.#step = step
    this.#accumulated = 0
    this.#lost = null
    if (model !== before) await this.#options.unload(before)
  }

  /** Runs after every earlier call has ended, whether it succeeded or not. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed !== null) return Promise.reject(closed())
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => undefined)
    return result
  }
}
