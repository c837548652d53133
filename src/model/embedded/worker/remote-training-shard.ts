import type { AdamParams } from '../../../core/index.ts'
import type { MemoryRows } from '../memory/attention-memory.ts'
import type { HeldAnchors } from '../train/anchors.ts'
import type { PackedBatch } from '../train/packing.ts'
import type { BatchResult, EngineStepResult, LossSettings, ShardState, TrainingShardPort } from '../train/shard.ts'
import type { EngineWorker } from './engine-worker.ts'
import { type TrainingCall, type TrainingMethodName, arraysIn } from './protocol.ts'

type Results = { [Method in TrainingMethodName]: Awaited<ReturnType<TrainingShardPort[Method]>> }

/** A training shard in a worker thread. Arrays are moved there and back, as {@link TrainingShardPort} allows. */
export class RemoteTrainingShard implements TrainingShardPort {
  readonly #worker: EngineWorker
  readonly #trainer: number

  constructor(worker: EngineWorker, trainer: number) {
    this.#worker = worker
    this.#trainer = trainer
  }

  forwardBackward(batch: PackedBatch, loss: LossSettings): Promise<BatchResult> {
    return this.#call({ method: 'forwardBackward', args: [batch, loss] })
  }

  forward(batch: PackedBatch, temperature: number): Promise<Float32Array> {
    return this.#call({ method: 'forward', args: [batch, temperature] })
  }

  addSquares(batch: PackedBatch, loss: LossSettings): Promise<void> {
    return this.#call({ method: 'addSquares', args: [batch, loss] })
  }

  takeSquares(): Promise<Float32Array | null> {
    return this.#call({ method: 'takeSquares', args: [] })
  }

  takeGradient(): Promise<Float32Array | null> {
    return this.#call({ method: 'takeGradient', args: [] })
  }

  optimStep(others: readonly Float32Array[], params: AdamParams): Promise<EngineStepResult & { values: Float32Array }> {
    return this.#call({ method: 'optimStep', args: [others, params] })
  }

  setAuxiliary(outputs: number): Promise<void> {
    return this.#call({ method: 'setAuxiliary', args: [outputs] })
  }

  setValues(values: Float32Array): Promise<void> {
    return this.#call({ method: 'setValues', args: [values] })
  }

  state(): Promise<ShardState> {
    return this.#call({ method: 'state', args: [] })
  }

  setState(state: ShardState): Promise<void> {
    return this.#call({ method: 'setState', args: [state] })
  }

  hold(anchors: HeldAnchors | null): Promise<void> {
    return this.#call({ method: 'hold', args: [anchors] })
  }

  held(): Promise<HeldAnchors | null> {
    return this.#call({ method: 'held', args: [] })
  }

  remember(memory: MemoryRows | null): Promise<void> {
    return this.#call({ method: 'remember', args: [memory] })
  }

  collect(batch: PackedBatch): Promise<MemoryRows> {
    return this.#call({ method: 'collect', args: [batch] })
  }

  async close(): Promise<void> {
    try {
      await this.#worker.request({ kind: 'close-trainer', trainer: this.#trainer })
    } catch (error) {
      // A thread that ended has freed everything.
      if (!this.#worker.ended) throw error
    }
  }

  async #call<Call extends TrainingCall>(call: Call): Promise<Results[Call['method']]> {
    const result = await this.#worker.request({ kind: 'train', trainer: this.#trainer, call }, arraysIn(call.args))
    return result as Results[Call['method']]
  }
}
