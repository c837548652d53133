import type { GateDecision, Json, Message, Release, Reward, Run, StopReason, TaskId } from '../../core/index.ts'
import type { Arm, Baseline, LearnSummary, SuccessRate } from '../../learn/index.ts'

/** One learning run as a report tells it: plain data, nothing rendered. */
export interface RunReport {
  readonly run: Run
  readonly progress: Progress
  /** Success of each arm on the held-out tasks that the gate judged by; `null` before the run has finished. */
  readonly rates: Pick<LearnSummary, 'base' | 'primed' | 'control' | 'learned'> | null
  /** Held-out results by tier, those that the gate judged by first. */
  readonly tiers: readonly TierResult[]
  readonly priming: readonly PrimingPass[]
  readonly updates: readonly UpdatePoint[]
  /** Success on validation tasks, by tier. */
  readonly validation: readonly ValidationCurve[]
  readonly gate: GateArithmetic | null
  readonly release: ReleaseStanding | null
  readonly stories: readonly Story[]
  /** Events of the run that could not be read: told, never hidden. */
  readonly unreadEvents: number
  readonly reproduce: Reproduction
}

/** How to repeat the run. */
export interface Reproduction {
  readonly command: string
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
  /** The number of this use of the holdout, what it may spend, and what all uses together may; `null` if not stated. */
  readonly use: { readonly number: number; readonly alpha: number; readonly total: number | null }
  readonly margin: number | null
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
