import {
  type AdamParams,
  type Datum,
  type ForwardBackwardResult,
  type Loss,
  OneAtATime,
  type Saved,
} from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import type { EmbeddedTrainer } from '../train/embedded-trainer.ts'
import type { EngineStepResult } from '../train/shard.ts'
import { pack } from '../train/packing.ts'
import { validateData } from '../train/validate-data.ts'
import { AttentionMemory, type MemoryOrigin, type MemoryRows, expectOrigin } from './attention-memory.ts'

/** What a memory trainer is made of. */
export interface MemoryTrainerParts {
  readonly config: TransformerConfig
  readonly origin: MemoryOrigin
  /** Of the kind `memory`. */
  readonly trainer: EmbeddedTrainer
}

/**
 * Trains how one layer reads a memory (Wu et al. 2022), and scores text with one. Only the gates and, where it is asked for,
 * a LoRA pair on the layer's queries are trained; the layer's keys and values hang on frozen weights alone, so that what is
 * remembered never grows stale.
 *
 * Each call names the memory that its data recall from; `null`, or an empty one, is the model without a memory. All data of a
 * call share it: to train on several documents, call once for each, and step after the last.
 */
export class MemoryTrainer {
  readonly #config: TransformerConfig
  readonly #origin: MemoryOrigin
  readonly #trainer: EmbeddedTrainer
  readonly #oneAtATime = new OneAtATime()

  constructor({ config, origin, trainer }: MemoryTrainerParts) {
    this.#config = config
    this.#origin = origin
    this.#trainer = trainer
  }

  /** An empty memory that this trainer's layer reads, of at most `capacity` tokens. */
  newMemory(capacity: number): AttentionMemory {
    return new AttentionMemory(this.#origin, capacity)
  }

  /** @throws StateMismatchError when the bytes are no memory of this model and layer. */
  readMemory(bytes: Uint8Array): AttentionMemory {
    return AttentionMemory.fromBytes(bytes, this.#origin)
  }

  /**
   * What a memory keeps of these tokens, each with those before it as its context and no memory.
   * @throws InvalidDatumError when a token is not of the model's vocabulary, or they are too many.
   */
  async collect(tokens: readonly number[]): Promise<MemoryRows> {
    const datum = { input: tokens, target: tokens }
    validateData([datum], 'cross_entropy', this.#config)
    const [planned] = pack([datum], 'cross_entropy', { config: this.#config, budget: tokens.length })
    if (planned === undefined) return { length: 0, keys: new Float32Array(0), values: new Float32Array(0) }
    return this.#trainer.inTurn(async ([shard]) => {
      // One sequence is one path: its tokens are the grid's first cells, in order.
      const { keys, values } = await present(shard, 'a training shard').collect(planned.layOut().batch)
      const elements = tokens.length * this.#origin.width
      return { length: tokens.length, keys: keys.slice(0, elements), values: values.slice(0, elements) }
    })
  }

  /** As `Trainer.forwardBackward`, with a memory. @throws StateMismatchError when it is of another model or layer. */
  forwardBackward(data: readonly Datum[], loss: Loss, memory: AttentionMemory | null): Promise<ForwardBackwardResult> {
    return this.#with(memory, () => this.#trainer.forwardBackward(data, loss))
  }

  /** As `Trainer.forward`: the log-probability of each target, with a memory. @throws StateMismatchError */
  forward(
    data: readonly Datum[],
    memory: AttentionMemory | null,
    temperature = 1,
  ): Promise<readonly (readonly number[])[]> {
    return this.#with(memory, () => this.#trainer.forward(data, temperature))
  }

  /** @throws NonFiniteGradientError; the gradient is then dropped. */
  optimStep(params: AdamParams): Promise<EngineStepResult> {
    return this.#oneAtATime.run(() => this.#trainer.optimStep(params))
  }

  /** The gates and the LoRA pair as safetensors: `EmbeddedEngine.loadMemory` samples with them. */
  saveWeights(): Promise<Uint8Array> {
    return this.#oneAtATime.run(() => this.#trainer.saveWeights())
  }

  /** @throws StateMismatchError when they are of other settings or another model. */
  loadWeights(weights: Saved, moments: 'clear' | 'keep' = 'clear'): Promise<void> {
    return this.#oneAtATime.run(() => this.#trainer.loadWeights(weights, moments))
  }

  /** Weights, moments and step. */
  saveState(): Promise<Uint8Array> {
    return this.#oneAtATime.run(() => this.#trainer.saveState())
  }

  loadState(state: Saved): Promise<void> {
    return this.#oneAtATime.run(() => this.#trainer.loadState(state))
  }

  close(): Promise<void> {
    return this.#oneAtATime.run(() => this.#trainer.close())
  }

  /** Recalls from `memory` from here on, and makes the call: between the two no other call of this trainer runs. */
  #with<T>(memory: AttentionMemory | null, call: () => Promise<T>): Promise<T> {
    if (memory) expectOrigin(memory.origin, this.#origin)
    const rows = memory?.rows() ?? null
    return this.#oneAtATime.run(async () => {
      await this.#trainer.inTurn((shards) => Promise.all(shards.map((shard) => shard.remember(copyOf(rows)))))
      return call()
    })
  }
}

/** Each shard owns what it is given. */
const copyOf = (rows: MemoryRows | null): MemoryRows | null =>
  rows && { length: rows.length, keys: rows.keys.slice(), values: rows.values.slice() }
