import type {
  AdamParams,
  AdapterRef,
  Datum,
  ForwardBackwardResult,
  Loss,
  OptimStepResult,
  Trainer,
} from '../../../core/index.ts'
import { InputError, present } from '../../../errors/index.ts'
import type { LlamaConfig, ModelWeights } from '../llama/config.ts'
import { type Trained, trainedShapes } from '../llama/training-graph.ts'
import { type AdapterContent, adapterContent } from './adapter-content.ts'
import { initialAdapter } from './lora.ts'
import { type PlannedBatch, type RowOrigin, pack } from './packing.ts'
import type { BatchResult, LossSettings, TrainingShardPort } from './shard.ts'
import { assign } from './assign.ts'
import { flatten } from './flat-tensors.ts'
import { readTrainedWeights, writeTrainedWeights } from './trained-weights.ts'
import { readTrainingState, writeTrainingState } from './training-state.ts'
import { validateData, validateLoss } from './validate-data.ts'

export interface EmbeddedTrainerOptions {
  readonly config: LlamaConfig
  readonly trained: Trained
  /** At least one. All hold equal values ({@link initialValues}); the first one owns the optimizer. */
  readonly shards: readonly TrainingShardPort[]
  /** Hands the trained weights to the sampler beside this trainer. */
  readonly publish: (content: AdapterContent) => Promise<AdapterRef>
  /** Most tokens computed in one pass of one shard; memory grows with it. Default 1536. */
  readonly budget?: number
  /** Whether data share the computation of equal prefixes. Default true. */
  readonly share?: boolean
}

/** The values that training starts from, flat: a fresh adapter that changes nothing, or the model's own weights. */
export function initialValues(model: ModelWeights, trained: Trained, seed: number): Float32Array {
  const tensors = trained.kind === 'lora' ? initialAdapter(model.config, trained, seed).tensors : model.tensors
  return flatten(trainedShapes(model.config, trained), tensors)
}

/**
 * The Trainer of the embedded engine. Packs data into batches, spreads them over shards in a fixed balanced order, and
 * steps on the first shard, so that equal data give equal bits whatever the timing. Calls run one after another, in the
 * order they were made. After a call that failed halfway the accumulated gradient is cleared.
 */
export class EmbeddedTrainer implements Trainer {
  readonly #options: EmbeddedTrainerOptions
  readonly #first: TrainingShardPort
  readonly #rest: readonly TrainingShardPort[]
  #queue: Promise<unknown> = Promise.resolve()
  #accumulating = false

  constructor(options: EmbeddedTrainerOptions) {
    this.#options = options
    this.#first = present(options.shards[0], 'the first training shard')
    this.#rest = options.shards.slice(1)
  }

  async forwardBackward(data: readonly Datum[], loss: Loss): Promise<ForwardBackwardResult> {
    const { config, shards, budget = 1536, share = true } = this.#options
    const settings = lossSettings(loss)
    validateLoss(settings)
    validateData(data, loss.kind, config)
    const batches = pack(data, loss.kind, { config, budget, shards: shards.length, share })
    return this.#exclusive(async () => {
      this.#accumulating ||= batches.length > 0
      return gathered(data, await this.#runBatches(batches, settings))
    })
  }

  /** @throws NonFiniteGradientError; the gradient is then dropped, and weights and moments stay as they were. */
  async optimStep(params: AdamParams): Promise<OptimStepResult> {
    return this.#exclusive(async () => {
      const gradients = await Promise.all(this.#rest.map((shard) => shard.takeGradient()))
      const others = gradients.filter((gradient) => gradient !== null)
      this.#accumulating = false
      const { gradNorm, step, values } = await this.#first.optimStep(others, params)
      await Promise.all(this.#rest.map((shard) => shard.setValues(values.slice())))
      return { gradNorm, step }
    })
  }

  async saveState(): Promise<Uint8Array> {
    const { config, trained } = this.#options
    return this.#exclusive(async () => {
      if (this.#accumulating) {
        throw new InputError({
          code: 'model/gradient-pending',
          message: 'The training state cannot be saved while a gradient is accumulated and not applied.',
          hint: 'Call optimStep first: a state lies between two optimizer steps.',
        })
      }
      return writeTrainingState(config, trained, await this.#first.state())
    })
  }

  async loadState(state: Uint8Array): Promise<void> {
    const { config, trained } = this.#options
    const read = readTrainingState(config, trained, state)
    return this.#exclusive(() => this.#restore(read))
  }

  async saveWeights(): Promise<Uint8Array> {
    const { config, trained } = this.#options
    return this.#exclusive(async () => writeTrainedWeights(config, trained, (await this.#first.state()).values))
  }

  async loadWeights(weights: Uint8Array): Promise<void> {
    const { config, trained } = this.#options
    const values = readTrainedWeights(config, trained, weights)
    const zeros = () => new Float32Array(values.length)
    return this.#exclusive(() => this.#restore({ values, m: zeros(), v: zeros(), step: 0 }))
  }

  async publish(): Promise<AdapterRef> {
    const { config, trained, publish } = this.#options
    return this.#exclusive(async () => {
      const { values } = await this.#first.state()
      return publish(adapterContent(config, trained, values))
    })
  }

  close(): Promise<void> {
    return this.#exclusive(async () => {
      await Promise.all(this.#options.shards.map((shard) => shard.close()))
    })
  }

  /** Runs after every earlier call has ended, whether it succeeded or not. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => undefined)
    return result
  }

  /** Every batch on its shard; each shard runs its own in order. Results are in the order of the batches. */
  async #runBatches(batches: readonly PlannedBatch[], loss: LossSettings): Promise<RanBatch[]> {
    const { shards } = this.#options
    const ran: RanBatch[] = []
    const queues = assign(
      batches.map(({ nodes }) => nodes),
      shards.length,
    )
    const runs = shards.map(async (shard, index) => {
      for (const position of queues[index] ?? []) {
        const { batch, origin } = present(batches[position], `batch ${position}`).layOut()
        const cells = batch.tokens.length
        ran[position] = { ...(await shard.forwardBackward(batch, loss)), origin, cells }
      }
    })
    const failed = (await Promise.allSettled(runs)).find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) {
      await Promise.allSettled(shards.map((shard) => shard.takeGradient()))
      this.#accumulating = false
      throw failed.reason
    }
    return ran
  }

  async #restore(state: Parameters<TrainingShardPort['setState']>[0]): Promise<void> {
    const copies = this.#rest.map(() => state.values.slice())
    await Promise.all(this.#rest.map((shard) => shard.takeGradient()))
    await Promise.all(this.#rest.map((shard, index) => shard.setValues(present(copies[index], 'a copy of the values'))))
    await this.#first.setState(state)
    this.#accumulating = false
  }
}

/** The loss with the port's defaults filled in; ratio bounds that a loss does not have are fed and not read. */
function lossSettings(loss: Loss): LossSettings {
  const { clipLow = 0.8, clipHigh = 1.2, temperature = 1 }: Partial<LossSettings> = loss
  return { kind: loss.kind, clipLow, clipHigh, temperature }
}

/** A batch's result with where its rows belong. */
interface RanBatch extends BatchResult {
  readonly origin: RowOrigin
  /** Grid cells computed, padding included. */
  readonly cells: number
}

function gathered(data: readonly Datum[], ran: readonly RanBatch[]): ForwardBackwardResult {
  const logprobs = data.map(({ input }) => Array<number>(input.length).fill(0))
  const tokens = { data: data.reduce((sum, { input }) => sum + input.length, 0), computed: 0 }
  let loss = 0
  for (const { origin, cells, ...result } of ran) {
    loss += result.loss
    tokens.computed += cells
    for (const [row, logprob] of result.logprobs.entries()) {
      const of = present(logprobs[origin.datum[row] as number], 'the datum of a row')
      of[origin.position[row] as number] = logprob
    }
  }
  return { loss, logprobs, tokens }
}
