import {
  type AdamParams,
  type AdapterRef,
  type Anchoring,
  type AuxiliaryHead,
  type Datum,
  type ForwardBackwardResult,
  type Loss,
  OneAtATime,
  type Saved,
  type Trainer,
  type TrainerCapabilities,
} from '../../../core/index.ts'
import { InputError, present } from '../../../errors/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import type { Trained } from '../transformer/trained.ts'
import { type AdapterContent, adapterContent } from './adapter-content.ts'
import { readAnchor, writeAnchor } from './anchor-file.ts'
import { heldAnchors } from './anchors.ts'
import { bytesOf } from './bytes-of.ts'
import { InvalidAnchoringError } from './invalid-anchoring-error.ts'
import { InvalidAuxiliaryHeadError } from './invalid-auxiliary-head-error.ts'
import { type PlannedBatch, pack } from './packing.ts'
import { behindPrompt, virtualTokens } from './soft-prompt.ts'
import { perDatum, runBatches } from './run-batches.ts'
import type { EngineStepResult, LossSettings, TrainingShardPort } from './shard.ts'
import { summedSquares } from './summed-squares.ts'
import { readTrainedWeights, writeTrainedWeights } from './trained-weights.ts'
import { readTrainingState, writeTrainingState } from './training-state.ts'
import { type DataLimits, requireAuxiliary, validateData, validateLoss } from './validate-data.ts'

export interface EmbeddedTrainerOptions {
  readonly config: TransformerConfig
  readonly trained: Trained
  /** At least one. All hold equal values (`initialValues`); the first one owns the optimizer. */
  readonly shards: readonly TrainingShardPort[]
  /** Hands the trained weights to the sampler beside this trainer. */
  readonly publish: (content: AdapterContent) => Promise<AdapterRef>
  /** Most tokens computed in one pass of one shard; memory grows with it. Default 1536. */
  readonly budget?: number
  /** Whether data share the computation of equal prefixes. Default true. */
  readonly share?: boolean
}

/**
 * The Trainer of the embedded engine. Packs data into batches, spreads them over shards in a fixed balanced order, and
 * steps on the first shard, so that equal data give equal bits whatever the timing. Calls run one after another, in the
 * order they were made. After a call that failed halfway the accumulated gradient is cleared.
 */
export class EmbeddedTrainer implements Trainer {
  readonly capabilities: TrainerCapabilities = {
    losses: ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'],
    temperatures: true,
    saves: 'bytes',
  }
  readonly #options: EmbeddedTrainerOptions
  readonly #first: TrainingShardPort
  readonly #rest: readonly TrainingShardPort[]
  /** What stands in front of every datum: the tokens of a soft prompt. */
  readonly #virtual: readonly number[]
  readonly #oneAtATime = new OneAtATime()
  #accumulating = false
  /** Of the auxiliary head; 0: there is none. */
  #outputs = 0

  constructor(options: EmbeddedTrainerOptions) {
    const { config, trained } = options
    this.#options = options
    this.#virtual = trained.kind === 'prompt' ? virtualTokens(config, trained) : []
    this.#first = present(options.shards[0], 'the first training shard')
    this.#rest = options.shards.slice(1)
  }

  async forwardBackward(data: readonly Datum[], loss: Loss): Promise<ForwardBackwardResult> {
    const settings = lossSettings(loss)
    const batches = this.#planned(data, settings)
    return this.#oneAtATime.run(async () => {
      requireAuxiliary(data, this.#outputs)
      this.#accumulating ||= batches.length > 0
      const run = runBatches(this.#options.shards, batches, (shard, batch) => shard.forwardBackward(batch, settings))
      const ran = await run.catch((error: unknown) => this.#dropGradient().then(() => Promise.reject(error)))
      return {
        loss: ran.reduce((sum, { result }) => sum + result.loss, 0),
        ...(data.some(({ auxiliary }) => auxiliary) && {
          auxiliaryLoss: ran.reduce((sum, { result }) => sum + result.auxiliaryLoss, 0),
        }),
        logprobs: perDatum(
          data,
          ran.map(({ result, ...where }) => ({ ...where, result: result.logprobs })),
          this.#virtual.length,
        ),
        tokens: {
          data: data.reduce((sum, { input }) => sum + input.length, 0),
          computed: ran.reduce((sum, { cells }) => sum + cells, 0),
        },
      }
    })
  }

  /** A graph of its own, without the way back: the accumulated gradient is not touched. */
  async forward(data: readonly Datum[], temperature = 1): Promise<readonly (readonly number[])[]> {
    validateData(data, 'cross_entropy', this.#limits)
    const everyTarget = data.map(({ input, target }) => ({ input, target }))
    const batches = this.#planned(everyTarget, { ...lossSettings({ kind: 'cross_entropy' }), temperature })
    return this.#oneAtATime.run(async () =>
      perDatum(
        data,
        await runBatches(this.#options.shards, batches, (shard, batch) => shard.forward(batch, temperature)),
        this.#virtual.length,
      ),
    )
  }

  /**
   * The importance is the diagonal of the empirical Fisher information, F_i = mean over the data of (∂ Σ_t w_t·log p(target_t) / ∂θ_i)²:
   * one datum at a time, because a square of sums is no sum of squares.
   */
  readonly anchoring: Anchoring = {
    importance: async (data) => {
      const { config, trained, shards } = this.#options
      const settings = lossSettings({ kind: 'cross_entropy' })
      const batches = data.flatMap((datum) => this.#planned([withoutAuxiliary(datum)], settings, 1))
      if (batches.length === 0) throw new InvalidAnchoringError('Importance was asked for on data without a target.')
      return this.#oneAtATime.run(async () => {
        const squares = await summedSquares(shards, batches, settings)
        const importance = this.#withoutHead(squares.map((sum) => sum / data.length))
        return writeAnchor(config, trained, { importance, values: await this.#trainedValues() })
      })
    },
    hold: async (anchors, strength) => {
      const { config, trained } = this.#options
      if (!(strength >= 0 && Number.isFinite(strength))) {
        throw new InvalidAnchoringError(`Anchors cannot be held with a strength of ${strength}.`)
      }
      const held = heldAnchors(
        anchors.map((bytes) => readAnchor(config, trained, bytes)),
        strength,
      )
      return this.#oneAtATime.run(() => this.#first.hold(held))
    },
  }

  readonly auxiliary: AuxiliaryHead = {
    attach: async (outputs) => {
      if (!(Number.isInteger(outputs) && outputs >= 0)) throw new InvalidAuxiliaryHeadError(outputs)
      return this.#oneAtATime.run(async () => {
        if (outputs === this.#outputs) return
        if (this.#accumulating) throw gradientPending('The auxiliary head cannot be changed')
        await this.#setAuxiliary(outputs)
      })
    },
  }

  /**
   * The pull of the anchors, λ·F·(θ − θ*), joins the accumulated gradient before its norm is taken and clipped: it is a part
   * of the loss like any other, and `gradNorm` is of both.
   * @throws NonFiniteGradientError; the gradient is then dropped, and weights and moments stay as they were.
   */
  async optimStep(params: AdamParams): Promise<EngineStepResult> {
    return this.#oneAtATime.run(async () => {
      const gradients = await Promise.all(this.#rest.map((shard) => shard.takeGradient()))
      const others = gradients.filter((gradient) => gradient !== null)
      this.#accumulating = false
      const { values, ...result } = await this.#first.optimStep(others, params)
      await Promise.all(this.#rest.map((shard) => shard.setValues(values.slice())))
      return result
    })
  }

  async saveState(gradient: 'refused' | 'left out' = 'refused'): Promise<Uint8Array> {
    const { config, trained } = this.#options
    return this.#oneAtATime.run(async () => {
      if (this.#accumulating && gradient === 'refused') throw gradientPending('The training state cannot be saved')
      const outputs = this.#outputs
      return writeTrainingState(config, trained, await this.#first.state(), { held: await this.#first.held(), outputs })
    })
  }

  async loadState(state: Saved): Promise<void> {
    const { config, trained } = this.#options
    const { state: read, held, outputs } = readTrainingState(config, trained, bytesOf(state))
    return this.#oneAtATime.run(async () => {
      if (outputs !== this.#outputs) await this.#setAuxiliary(outputs)
      await this.#restore(read)
      await this.#first.hold(held)
    })
  }

  async saveWeights(): Promise<Uint8Array> {
    const { config, trained } = this.#options
    return this.#oneAtATime.run(async () => writeTrainedWeights(config, trained, await this.#trainedValues()))
  }

  /** What is held stays held, and an auxiliary head stays as it is. */
  async loadWeights(weights: Saved, moments: 'clear' | 'keep' = 'clear'): Promise<void> {
    const { config, trained } = this.#options
    const values = readTrainedWeights(config, trained, bytesOf(weights))
    return this.#oneAtATime.run(async () => {
      const { values: all, ...now } = await this.#first.state()
      all.set(values)
      const zeros = () => new Float32Array(all.length)
      const kept = moments === 'keep' ? now : { m: zeros(), v: zeros(), step: 0 }
      await this.#restore({ ...kept, values: all })
    })
  }

  /** Everything that it saves is bytes: it keeps nothing. */
  async discard(): Promise<void> {}

  async publish(): Promise<AdapterRef> {
    const { config, trained, publish } = this.#options
    return this.#oneAtATime.run(async () => {
      return publish(adapterContent(config, trained, await this.#trainedValues()))
    })
  }

  close(): Promise<void> {
    return this.#oneAtATime.run(async () => {
      await Promise.all(this.#options.shards.map((shard) => shard.close()))
    })
  }

  /** Work on the shards, in its turn among the calls. */
  inTurn<T>(work: (shards: readonly TrainingShardPort[]) => Promise<T>): Promise<T> {
    return this.#oneAtATime.run(() => work(this.#options.shards))
  }

  #planned(data: readonly Datum[], loss: LossSettings, shards = this.#options.shards.length): PlannedBatch[] {
    const { config, budget = 1536, share = true } = this.#options
    validateLoss(loss)
    validateData(data, loss.kind, this.#limits)
    const behind = this.#virtual.length === 0 ? data : data.map((datum) => behindPrompt(this.#virtual, datum))
    return pack(behind, loss.kind, { config, budget, shards, share })
  }

  /** What bounds the data: a soft prompt takes positions of theirs. */
  get #limits(): DataLimits {
    const { vocabSize, maxPositions } = this.#options.config
    return { vocabSize, maxPositions: maxPositions - this.#virtual.length }
  }

  /** A copy of the values that are a model's or an adapter's own. */
  async #trainedValues(): Promise<Float32Array> {
    return this.#withoutHead((await this.#first.state()).values)
  }

  /** The head is at the end of all that is trained. */
  #withoutHead(values: Float32Array): Float32Array {
    return values.slice(0, values.length - this.#outputs * this.#options.config.hiddenSize)
  }

  async #setAuxiliary(outputs: number): Promise<void> {
    await Promise.all(this.#options.shards.map((shard) => shard.setAuxiliary(outputs)))
    this.#outputs = outputs
  }

  async #dropGradient(): Promise<void> {
    await Promise.allSettled(this.#options.shards.map((shard) => shard.takeGradient()))
    this.#accumulating = false
  }

  async #restore(state: Parameters<TrainingShardPort['setState']>[0]): Promise<void> {
    const copies = this.#rest.map(() => state.values.slice())
    await Promise.all(this.#rest.map((shard) => shard.takeGradient()))
    await Promise.all(this.#rest.map((shard, index) => shard.setValues(present(copies[index], 'a copy of the values'))))
    await this.#first.setState(state)
    this.#accumulating = false
  }
}

function withoutAuxiliary(datum: Datum): Datum {
  const { auxiliary: _, ...rest } = datum
  return rest
}

const gradientPending = (cannot: string): InputError =>
  new InputError({
    code: 'model/gradient-pending',
    message: `${cannot} while a gradient is accumulated and not applied.`,
    hint: 'Call optimStep first: a state lies between two optimizer steps.',
  })

/** The loss with the port's defaults filled in; ratio bounds that a loss does not have are fed and not read. */
function lossSettings(loss: Loss): LossSettings {
  const { clipLow = 0.8, clipHigh = 1.2, temperature = 1 }: Partial<LossSettings> = loss
  return { kind: loss.kind, clipLow, clipHigh, temperature }
}
