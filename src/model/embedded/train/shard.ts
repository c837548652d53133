import type { AdamParams, Loss, OptimStepResult } from '../../../core/index.ts'
import type { MemoryRows } from '../memory/attention-memory.ts'
import type { HeldAnchors } from './anchors.ts'
import type { PackedBatch } from './packing.ts'

/** A loss with its numbers filled in, as a shard feeds them to the graph. */
export interface LossSettings {
  readonly kind: Loss['kind']
  readonly clipLow: number
  readonly clipHigh: number
  readonly temperature: number
}

/** What one batch gave; its gradient was added to the shard's sum. */
export interface BatchResult {
  readonly loss: number
  /** Of the auxiliary head: 0 where no row has targets for it. */
  readonly auxiliaryLoss: number
  /** One for each row of the batch. */
  readonly logprobs: Float32Array
}

/** Trained values and the optimizer's moments, flat, in the order of `trainedShapes`; an auxiliary head's come last. */
export interface ShardState {
  readonly values: Float32Array
  readonly m: Float32Array
  readonly v: Float32Array
  readonly step: number
}

/** What a step did; the engine knows its gradient. */
export type EngineStepResult = OptimStepResult & { readonly gradNorm: number }

/**
 * One worker of data-parallel training: holds the weights, a session for each loss and a sum of gradients. All arguments
 * and results are plain data, so that a shard can live in this thread or behind a message port; an array that is passed
 * in belongs to the shard, an array that is returned to the caller, and so both may be transferred.
 */
export interface TrainingShardPort {
  /** Runs one batch and adds its gradient to the shard's sum. */
  forwardBackward(batch: PackedBatch, loss: LossSettings): Promise<BatchResult>
  /** Runs one batch without a gradient: the log-probability of each row's target at `temperature`. */
  forward(batch: PackedBatch, temperature: number): Promise<Float32Array>
  /** Runs one batch and adds the squares of its gradient to a sum of squares; the sum of gradients is left alone. */
  addSquares(batch: PackedBatch, loss: LossSettings): Promise<void>
  /** Gives the sum of squares away and clears it; `null` when nothing was added since. */
  takeSquares(): Promise<Float32Array | null>
  /** Gives the summed gradient away and clears it; `null` when no batch was run since. */
  takeGradient(): Promise<Float32Array | null>
  /**
   * Adds the other shards' gradients, in the order given, and the pull of what is held to its own, clips and steps;
   * returns a copy of the new values.
   * @throws NonFiniteGradientError, having cleared the gradient and changed nothing else.
   */
  optimStep(others: readonly Float32Array[], params: AdamParams): Promise<EngineStepResult & { values: Float32Array }>
  /**
   * Gives what is trained a linear head for auxiliary targets, at the end of all trained values: its own are 0, and so are
   * their moments; what else is trained stays. 0 outputs take it away. Clears the gradient.
   */
  setAuxiliary(outputs: number): Promise<void>
  /** Replaces the trained values. */
  setValues(values: Float32Array): Promise<void>
  /** A copy of values and moments. */
  state(): Promise<ShardState>
  /** Replaces values and moments, and clears the gradient; what is held stays. */
  setState(state: ShardState): Promise<void>
  /** Holds on to this from now on, and to nothing else; `null` lets go. */
  hold(anchors: HeldAnchors | null): Promise<void>
  /** What later batches recall from, for a trainer of that kind; `null` for nothing. */
  remember(memory: MemoryRows | null): Promise<void>
  /** Keys and values of the layer that remembers, for every cell of the batch's grid, before positions turn them. */
  collect(batch: PackedBatch): Promise<MemoryRows>
  /** A copy of what is held. */
  held(): Promise<HeldAnchors | null>
  /** Closes its graphs. */
  close(): Promise<void>
}
