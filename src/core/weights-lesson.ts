import type { Demonstration } from './demonstration.ts'
import type { Group } from './group.ts'
import type { ParameterName } from './parameter.ts'
import type { Metrics, WeightsOptimizer } from './optimizer.ts'
import type { PreferencePair } from './preference.ts'
import type { Rng } from './rng.ts'
import type { Loss, Trainer } from './trainer.ts'

/** What every way to move weights by a run's material is given. */
interface LessonStep {
  readonly trainer: Trainer
  readonly rng: Rng
  /** Updates of the run before this one: stages depend on it. Absent before the first, and over traffic. */
  readonly update?: number
}

/** How supervised learning steps. */
export interface ImitationSettings {
  readonly learningRate?: number
  /** Demonstrations an optimizer step; the last batch of a pass may be smaller. */
  readonly batchSize?: number
  readonly gradClipNorm?: number
  readonly weightDecay?: number
}

/** How direct preference optimisation steps. */
export interface PreferringSettings {
  /** How strongly the policy is kept near the reference: smaller lets it go further. Default 0.1. */
  readonly beta?: number
  /** The share of preferences that are taken to be the wrong way round (conservative DPO), in [0, 0.5). Default 0. */
  readonly labelSmoothing?: number
  readonly learningRate?: number
  /** Optimizer steps a pass, at most one a pair. Default 1. */
  readonly minibatches?: number
  readonly gradClipNorm?: number
  readonly weightDecay?: number
}

/** One pass over demonstrations. */
export interface ImitationStep extends LessonStep {
  readonly demonstrations: readonly Demonstration[]
  /** What the run's own options say, for what the lesson's leave open. */
  readonly defaults?: ImitationSettings
  /** Factor on the learning rate, in (0, 1]. Default 1. */
  readonly pace?: number
}

/** One piece of learning from what people preferred. */
export interface PreferringStep extends LessonStep {
  readonly pairs: readonly PreferencePair[]
  /** What the run's own options say, for what the lesson's leave open. */
  readonly defaults?: PreferringSettings
  /** Passes over the pairs. */
  readonly passes: number
}

/**
 * Moves weights by examples: what people showed and took, what earlier runs learned from, and over rollouts the policy's own
 * successes. A run says how often, and of what.
 */
export interface WeightsImitation {
  readonly name: string
  readonly kind: 'weights'
  readonly losses?: readonly Loss['kind'][]
  /** Whether it asks its trainer for an auxiliary head. Default false. */
  readonly auxiliary?: boolean
  imitate(step: ImitationStep): Promise<Metrics>
}

/** Moves weights by pairs of answers of which one is preferred: by people, or by what came of it. */
export interface WeightsPreferring {
  readonly name: string
  readonly kind: 'weights'
  readonly losses?: readonly Loss['kind'][]
  prefer(step: PreferringStep): Promise<Metrics>
  /**
   * Pairs of a run's own attempts. Default: none are made, and only people prefer.
   * @param update updates of the run before this one.
   * @param parameter the weights that learn from them: what others said in an attempt is context.
   */
  readonly pairsIn?: (groups: readonly Group[], update: number, parameter: ParameterName) => readonly PreferencePair[]
}

/** What says what weights were good for, before anything moves them. */
export interface AnchoringStep {
  readonly trainer: Trainer
  /** What earlier runs learned from. */
  readonly earlier: readonly Demonstration[]
}

/** Holds on to what earlier runs need of weights, while they learn something else. */
export interface WeightsAnchoring {
  readonly name: string
  readonly kind: 'weights'
  readonly losses?: readonly Loss['kind'][]
  /** How strongly; 0: not. */
  readonly strength: number
  /** Sequences of earlier runs that it wants, at most, and of how many runs. */
  readonly sequences: number
  readonly runs: number
  /** @returns the sequences that it measured. */
  anchor(step: AnchoringStep): Promise<number>
}

/** What is imitated now, and what earlier runs learned from. */
export interface RehearsalStep {
  /** Sequences that are imitated now. */
  readonly fresh: number
  readonly earlier: readonly Demonstration[]
  readonly rng: Rng
}

/** Adds something that earlier runs learned to what is imitated now. */
export interface WeightsRehearsal {
  readonly name: string
  readonly kind: 'weights'
  readonly losses?: readonly Loss['kind'][]
  /** The part of both that earlier ones are, in [0, 1), and of how many runs. */
  readonly share: number
  readonly runs: number
  rehearse(step: RehearsalStep): readonly Demonstration[]
}

/** One way in which weights learn, or keep what they learned. */
export type WeightsLesson =
  | WeightsOptimizer
  | WeightsImitation
  | WeightsPreferring
  | WeightsAnchoring
  | WeightsRehearsal

/** Several ways in which weights learn, in the order in which they take turns: one of each sort at most. */
export interface WeightsSequence {
  readonly name: string
  readonly kind: 'weights'
  readonly lessons: readonly WeightsLesson[]
}
