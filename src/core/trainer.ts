import type { Saved, TrainerPath } from './blob-ref.ts'
import type { AdapterRef } from './sampler.ts'

/**
 * The Trainer port: the other Tinker verbs (`forwardBackward`, `optimStep`, `save`/`load`), shaped so that an HTTP
 * trainer is only another implementation. Losses are sums over tokens: the client normalises, by scaling
 * `weights` or `advantages`.
 */

/**
 * One training sequence. `target[t]` is the token that follows `input[t]`: targets are already shifted by one, as in
 * the Tinker protocol. All present arrays have the length of `input`. A position with weight 0 (cross-entropy) or
 * advantage 0 (policy losses) contributes nothing.
 */
export interface Datum {
  readonly input: readonly number[]
  readonly target: readonly number[]
  /** Per-token loss weights; default all ones. */
  readonly weights?: readonly number[]
  /** Policy losses: log-probabilities under the behaviour policy at the loss's `temperature`; 0 where not sampled. */
  readonly logprobs?: readonly number[]
  /** Policy losses: advantage of each token; 0 where not sampled. */
  readonly advantages?: readonly number[]
  /** Only where the trainer has an {@link Trainer.auxiliary} head. `forward` and anchors do not read them. */
  readonly auxiliary?: AuxiliaryTargets
}

/**
 * What auxiliary predictions should say: at position t a linear head reads the hidden state that predicts `target[t]`. Its loss
 * is Σ_t w_t · mean_j (ŷ_tj − y_tj)², and is added to the other.
 */
export interface AuxiliaryTargets {
  /** One array a position, as long as the head has outputs; not read where the weight is 0. */
  readonly targets: readonly (readonly number[])[]
  /** ≥ 0, one a position: the share of the whole loss is a factor on them. */
  readonly weights: readonly number[]
}

/**
 * A per-token loss, summed. With lp the trainer's log-probability of the target at `temperature`, ρ = exp(lp − logprobs),
 * A the advantage, w the weight:
 * - `cross_entropy`: −w·lp
 * - `importance_sampling`: −w·ρ·A
 * - `ppo`: −w·min(ρA, clip(ρ, clipLow, clipHigh)·A)
 * - `cispo`: −w·sg[clip(ρ, clipLow, clipHigh)]·lp·A
 *
 * Clip thresholds are bounds on the ratio itself (0.8, 1.2), not ε. `temperature` divides the logits, so that samples
 * drawn at that temperature are on-policy; default 1.
 */
export type Loss =
  | { readonly kind: 'cross_entropy' }
  | { readonly kind: 'importance_sampling'; readonly temperature?: number }
  | { readonly kind: 'ppo'; readonly clipLow?: number; readonly clipHigh?: number; readonly temperature?: number }
  | { readonly kind: 'cispo'; readonly clipLow?: number; readonly clipHigh?: number; readonly temperature?: number }

/** AdamW (Loshchilov & Hutter 2019), decoupled weight decay. */
export interface AdamParams {
  readonly learningRate: number
  /** Default 0.9. */
  readonly beta1?: number
  /** Default 0.95. */
  readonly beta2?: number
  /** Default 1e-8. */
  readonly eps?: number
  /** Default 0. */
  readonly weightDecay?: number
  /** Clip the global gradient norm to this before the update; omitted = no clipping. */
  readonly gradClipNorm?: number
}

/** What one forward-backward pass produced; gradients stay in the trainer until `optimStep`. */
export interface ForwardBackwardResult {
  /** Sum of the per-token losses over all data. */
  readonly loss: number
  /** Sum of the losses of the auxiliary head, which `loss` does not hold; absent where no datum has targets for it. */
  readonly auxiliaryLoss?: number
  /** For each datum, the log-probability of each target at the loss's temperature; 0 where weight (or advantage) is 0. */
  readonly logprobs: readonly (readonly number[])[]
  /** Tokens the data hold, and tokens computed after shared prefixes were packed once; `null`: not told. */
  readonly tokens: { readonly data: number; readonly computed: number | null }
}

/** What one optimizer step did. */
export interface OptimStepResult {
  /** Global L2 norm of the accumulated gradient before clipping; `null`: not told. */
  readonly gradNorm: number | null
  /** What the anchors in force cost at the weights before this step; 0 without any. */
  readonly anchorPenalty: number
  /** Optimizer steps taken so far, this one included. */
  readonly step: number
}

/**
 * Elastic weight consolidation over the trained weights (Kirkpatrick et al. 2017): the loss gains
 * Σ_i (strength / 2) · F_i · (θ_i − θ*_i)², with F the mean squared gradient of the log-likelihood on what must not be
 * forgotten, and θ* the weights at which it was measured.
 */
export interface Anchoring {
  /**
   * Measures how much each trained weight matters for these data, at the weights as they are now.
   * @param data one sequence each; `weights` say which targets count (default: all).
   * @returns F and θ*, as safetensors bytes. The accumulated gradient is left alone.
   */
  importance(data: readonly Datum[]): Promise<Uint8Array>
  /**
   * Every later {@link Trainer.optimStep} holds on to these, and to no others; several add up. An empty list lets go.
   * Anchors are part of {@link Trainer.saveState}.
   * @param strength λ ≥ 0.
   * @throws InputError for anchors of other weights than those that are trained.
   */
  hold(anchors: readonly Uint8Array[], strength: number): Promise<void>
}

/**
 * A linear head beside the output head, on the same hidden state, which learns to predict {@link Datum.auxiliary}: so that what is
 * trained comes to hold what helps to predict them. The head is trained with the weights and is part of
 * {@link Trainer.saveState}; of weights that are saved or published it is no part.
 */
export interface AuxiliaryHead {
  /**
   * Makes a head whose values are all 0, in the place of one with other outputs; one with as many stays as it is.
   * @param outputs a whole number ≥ 0; 0 takes it away.
   * @throws InputError for other numbers, and while a gradient is accumulated that would be lost.
   */
  attach(outputs: number): Promise<void>
}

/** What a trainer can do; what a run needs of it is checked before it starts. */
export interface TrainerCapabilities {
  readonly losses: readonly Loss['kind'][]
  /** Whether losses and {@link Trainer.forward} take other temperatures than 1. */
  readonly temperatures: boolean
  /** What it saves. Bytes can be averaged, kept with a store, and served anywhere. */
  readonly saves: 'bytes' | 'paths'
  /** Whether it heeds {@link AdamParams.gradClipNorm}. Default true. */
  readonly clipsGradients?: boolean
}

/** Holds trained weights, their accumulated gradient and the optimizer's state; calls take effect in their order. */
export interface Trainer {
  readonly capabilities: TrainerCapabilities
  /**
   * Adds the gradient of `loss` over `data` to the accumulated gradient.
   * @throws InputError when a datum's arrays disagree in length, a token is out of range, or the loss lacks an input.
   */
  forwardBackward(data: readonly Datum[], loss: Loss): Promise<ForwardBackwardResult>
  /**
   * Log-probabilities of every target under the current weights, at `temperature` (default 1); one array a datum, as long as
   * its `input`. Nothing is accumulated.
   * @throws InputError as {@link forwardBackward} does.
   */
  forward(data: readonly Datum[], temperature?: number): Promise<readonly (readonly number[])[]>
  /** Holding on to what was learned before; `null` where the trainer cannot. */
  readonly anchoring: Anchoring | null
  /** Learning auxiliary tasks beside the loss; absent where the trainer cannot. */
  readonly auxiliary?: AuxiliaryHead
  /**
   * Applies the accumulated gradient and clears it.
   * @throws RatchetError when the gradient is not finite: training has diverged. Weights and moments stay as they were.
   */
  optimStep(params: AdamParams): Promise<OptimStepResult>
  /**
   * Everything needed to go on exactly here: trained weights, Adam moments and step.
   * @param gradient what becomes of one that is accumulated and not applied, which is no part of a state. `left out`: it stays
   * with the trainer; who loads the state has to make it again. Default: `refused`.
   * @throws InputError (`model/gradient-pending`) where it is refused.
   */
  saveState(gradient?: 'refused' | 'left out'): Promise<Saved>
  /** Restores what {@link saveState} returned. */
  loadState(state: Saved): Promise<void>
  /** The trained weights alone, as a value of a `weights` Parameter. */
  saveWeights(): Promise<Saved>
  /**
   * Loads adapter weights to go on from. The optimizer's moments and its count of steps are cleared, or kept where the weights
   * are near those that it holds; a trainer that cannot keep them clears them.
   */
  loadWeights(weights: Saved, moments?: 'clear' | 'keep'): Promise<void>
  /** Lets go of what it keeps under a path; of what it does not have, nothing. */
  discard(path: TrainerPath): Promise<void>
  /** Hands the current weights to the sampler beside this trainer; what the reference means never changes. */
  publish(): Promise<AdapterRef>
  /**
   * Frees what the trainer holds, after the calls under way; nothing may be called after. What it published stays. Closing
   * twice, or after the model service was closed, does nothing.
   */
  close(): Promise<void>
}
