import type { GateDecision, Json, Message, Release, Reward, Run, StopReason, TaskId } from '../core/index.ts'
import type { Brought } from '../gate/index.ts'
import type {
  Arm,
  Baseline,
  EvidenceReport,
  LearningMode,
  RolloutSummary,
  PrimingLook,
  SuccessRate,
  TrafficSummary,
} from '../learn/index.ts'
import type { ShownCanary } from '../release/index.ts'

/** One learning run as a report tells it: plain data, nothing rendered. */
export interface RunReport {
  readonly run: Run
  readonly progress: Progress
  /** Success of each arm on the held-out tasks that the gate judged by; `null` before the run has finished. */
  readonly rates: Pick<RolloutSummary, 'base' | 'primed' | 'control' | 'learned'> | null
  /** Held-out results by tier, those that the gate judged by first. */
  readonly tiers: readonly TierResult[]
  readonly priming: readonly PrimingPass[]
  readonly updates: readonly UpdatePoint[]
  /** Success on validation tasks, by tier. */
  readonly validation: readonly ValidationCurve[]
  /** What the run decided by itself; `null` for one that told nothing of it. */
  readonly steering: Steering | null
  readonly gate: GateArithmetic | null
  /** What each Parameter of the candidate brought; empty where it changed one alone, or was not measured. */
  readonly brought: readonly Brought[]
  readonly release: ReleaseStanding | null
  /** Why a candidate that the gate promotes does not serve everybody; `null` where it does, or nothing is known. */
  readonly unreleased: string | null
  readonly stories: readonly Story[]
  /** Events of the run that could not be read: told, never hidden. */
  readonly unreadEvents: number
  /** `null` where no command line repeats the run. */
  readonly reproduce: Reproduction | null
  /** What learning from traffic came to; `null` for a run over rollouts. */
  readonly traffic: TrafficCourse | null
  /** How commands name the store: ` --store FOLDER`, or nothing. */
  readonly storeArgument: string
}

/** How a run over traffic went. */
export interface TrafficCourse {
  /** The agent's own name, and whose it is. */
  readonly agent: { readonly name: string; readonly tenant: string } | null
  /** `direct`: held-out tasks alone decide. */
  readonly mode: LearningMode | 'direct' | null
  /** What it learned from, and what was left out; `null` before it gathered. */
  readonly gathered: EvidenceReport | null
  /** What it did to its weights, in order. */
  readonly steps: readonly TrafficStep[]
  /** The last phase that its checkpoint names; `null` before the first. */
  readonly phase: string | null
  /** Mean rewards on held-out tasks and suites, by arm. */
  readonly measured: readonly {
    readonly suite: string
    readonly arm: 'serving' | 'learned'
    readonly meanReward: number | null
    readonly n: number
  }[]
  /** The canary that its candidate got, as it stands now. */
  readonly canary: ShownCanary | null
  /** How it ended; `null` before that. */
  readonly summary: TrafficSummary | null
}

/** One pass of learning from traffic. */
export type TrafficStep =
  | { readonly kind: 'anchored'; readonly sequences: number; readonly strength: number }
  | { readonly kind: 'stepped'; readonly metrics: Readonly<Record<string, number | null>>; readonly seconds: number }
  | {
      readonly kind: 'practised'
      readonly number: number
      readonly of: number
      readonly ratio: number | null
      readonly divergence: number | null
      readonly seconds: number
    }
  | {
      readonly kind: 'imitated' | 'preferred'
      readonly number: number
      readonly of: number | null
      readonly loss: number | null
      readonly seconds: number
    }
  | {
      readonly kind: 'out-of-bounds'
      readonly number: number
      /** Whether practice went on from before, with half the step. */
      readonly goesOn: boolean
      readonly ratio: number | null
      readonly divergence: number | null
    }

/** How to repeat the run. */
export interface Reproduction {
  /** What follows `ratchet`. */
  readonly arguments: string
  /** The file that the command names, where the configuration is not the default one. */
  readonly config: { readonly file: string; readonly content: Json } | null
}

/** How far the run has come, by its last checkpoint and its events. */
export interface Progress {
  /** What comes next; `null` before the first checkpoint. */
  readonly phase: 'prime' | 'improve' | 'test' | 'done' | null
  readonly update: number
  /** Updates at most; `null` before the first. */
  readonly planned: number | null
  readonly best: { readonly update: number; readonly success: number } | null
  readonly seconds: number | null
  readonly tokensSampled: number
  readonly tokensTrained: number
  /** Times that it went on after it had stopped. */
  readonly resumed: number
}

export interface TierResult {
  readonly tier: string
  /** Whether the gate judged by it; `null` when that is not known. */
  readonly judged: boolean | null
  readonly arms: readonly { readonly arm: Arm; readonly rate: SuccessRate }[]
  readonly baselines: readonly Baseline[]
}

/** Numbers of one step by name; `null` where a number was not finite. */
export type StepMetrics = Readonly<Record<string, number | null>>

export interface PrimingPass {
  readonly pass: number
  readonly metrics: StepMetrics
  /** Since the run began to learn. */
  readonly seconds: number
}

export interface UpdatePoint {
  /** 1 for the first. */
  readonly update: number
  readonly rollouts: SuccessRate
  /** Mean reward of the rollouts. */
  readonly reward: number | null
  readonly metrics: StepMetrics
  readonly tokensSampled: number
  readonly tokensPerSecond: number | null
  /** Since the run began to learn. */
  readonly seconds: number
}

export interface ValidationCurve {
  readonly tier: string
  readonly points: readonly { readonly update: number; readonly rate: SuccessRate }[]
}

/** What a run found, chose and decided while it went. */
export interface Steering {
  /** What it chose or was given at its start; `null` where it did not say. */
  readonly chosen: {
    readonly budget: { readonly turns: number; readonly tokensPerTurn: number }
    readonly families: number
    readonly demonstrations: number
  } | null
  /** What the check before training found. */
  readonly findings: readonly JobFinding[]
  /** Looks at the policy while it imitated, in order. */
  readonly looks: readonly (PrimingLook & { readonly diagnosis: Advice })[]
  /** Where imitation was to end; `null` where the run's configuration is not known. */
  readonly primeTarget: { readonly success: number; readonly informative: number; readonly passes: number } | null
  /** Returns after a collapse, in order. */
  readonly returns: readonly Return[]
  /** Updates that sampled more than one round, and updates that told how many rounds they sampled. */
  readonly sampledOn: { readonly updates: number; readonly of: number }
  /** Attempts that were explored, at tasks of families on which next to nothing succeeds. */
  readonly explored: number
  /** Attempts in which one act was forced, at tasks at which all attempts had failed; and how many of the tasks then succeeded. */
  readonly forced: { readonly attempts: number; readonly won: number }
  /** Why updating ended as the schedule says; `null` where it did not. */
  readonly enough: { readonly update: number; readonly message: string } | null
  /** Why updating ended before that; `null` where it did not. */
  readonly stopped: { readonly update: number; readonly message: string; readonly diagnosis: Advice } | null
  /** The families of the training tasks, the worst first: dead ones, then by their last rate. */
  readonly families: readonly FamilyCourse[]
}

/** What attempts came to, and what to do about it. */
export interface Advice {
  readonly message: string
  readonly hint: string
}

export interface JobFinding extends Advice {
  readonly code: string
  /** Whether training was of no use as the job was. */
  readonly stops: boolean
}

/** A collapse, and what the run did about it. */
export interface Return {
  readonly update: number
  readonly rollouts: SuccessRate
  /** The update that it went back to. */
  readonly to: number
  /** Factor on the learning rate from there on. */
  readonly scale: number
}

/** How a family of tasks fared. */
export interface FamilyCourse {
  readonly family: string
  /** Training tasks of it. */
  readonly tasks: number
  /** Whether nothing succeeds on it, as last told. */
  readonly dead: boolean
  /** Rates of success at each telling, in [0, 1], in order; `null` before there were attempts. */
  readonly rates: readonly { readonly update: number; readonly rate: number | null }[]
}

/** A gate's receipt in the order in which one would work it out by hand. */
export interface GateArithmetic {
  readonly receipt: string
  readonly gate: string
  readonly decision: GateDecision
  readonly reasons: readonly string[]
  readonly tasks: number
  /** Tasks with a score in both arms, and how the candidate did on them. */
  readonly scored: number
  readonly better: number
  readonly worse: number
  readonly means: { readonly baseline: number; readonly candidate: number } | null
  /**
   * The number of this use of the holdout, what it may spend, the level that this candidate was tested at, and what all uses
   * together may spend; `null` if not stated.
   */
  readonly use: {
    readonly number: number
    readonly alpha: number
    readonly level: number
    readonly total: number | null
  }
  /** Below 0: so much may be lost. */
  readonly margin: number | null
  /** The Parameter that the candidate gives up what it learned of; `null` for any other candidate. */
  readonly retires: string | null
  readonly minCoverage: number | null
  /** Of the mean paired difference, as the gate computed it. */
  readonly interval: readonly [number, number] | null
  /** p-value of "the difference is at most the margin". */
  readonly pValue: number | null
  /** What the candidate had to beat beside what served, the strongest first. */
  readonly rivals: readonly RivalArithmetic[]
  /** What the gate wrote down, whole. */
  readonly evidence: { readonly [key: string]: Json }
}

/** The comparison with one rival, on the same tasks. */
export interface RivalArithmetic {
  readonly name: string
  /** Tasks with a score of both. */
  readonly scored: number
  /** Mean rewards over those tasks; `null` without any. */
  readonly means: { readonly rival: number; readonly candidate: number } | null
  /** Of the mean paired difference, as the gate computed it; `null` where it says nothing. */
  readonly interval: readonly [number, number] | null
  /** Whether the gate says that it is shown to be beaten; `null` where it does not say. */
  readonly beaten: boolean | null
}

export interface ReleaseStanding {
  readonly release: Release
  readonly servesNow: boolean
}

/** One held-out task, attempted before and after learning. */
export interface Story {
  readonly task: { readonly id: TaskId; readonly instruction: string; readonly tier: string | null }
  /** `gained`: only the learned agent solved it. `lost`: it failed where the baseline had succeeded. `unsolved`: it failed. */
  readonly outcome: 'gained' | 'lost' | 'unsolved'
  readonly attempts: readonly Attempt[]
}

export interface Attempt {
  readonly arm: Arm
  readonly reward: Reward
  readonly solved: boolean | null
  readonly stopReason: StopReason
  readonly failure: { readonly code: string; readonly message: string } | null
  readonly messages: readonly Message[]
  /** What the checker read. */
  readonly finalState: Json
  /** Tokens that the policy sampled. */
  readonly tokens: number
}
