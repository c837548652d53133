import type { GateDecision, Metrics, ReceiptId, ReleaseId, RunId } from '../core/index.ts'

/**
 * Which agent is measured: the base model, what served when the run began, after priming, after learning, or after the
 * same time of supervised learning alone.
 */
export type Arm = 'base' | 'serving' | 'primed' | 'learned' | 'control'

/** A success rate with its 95 % Wilson interval. `success` is `null` only when nothing could be scored. */
export interface SuccessRate {
  readonly success: number | null
  readonly n: number
  readonly ci: readonly [number, number]
  /** Episodes without a reward, through no act of the policy. */
  readonly missing: number
}

/** What a run tells while it goes. Everything but `progress` is kept in the store. */
export type LearnEvent =
  | {
      readonly type: 'started'
      readonly runId: RunId
      readonly agent: string
      readonly seed: number
      readonly resumedAt: number | null
    }
  | { readonly type: 'progress'; readonly phase: string; readonly done: number; readonly total: number }
  | {
      readonly type: 'primed'
      readonly pass: number
      readonly passes: number
      readonly metrics: Metrics
      readonly seconds: number
    }
  | {
      readonly type: 'updated'
      readonly update: number
      readonly updates: number
      readonly rollouts: SuccessRate
      readonly reward: number | null
      readonly metrics: Metrics
      readonly tokensSampled: number
      readonly tokensPerSecond: number
      /** Seconds of priming and updates so far, and the estimate of what is left of them. */
      readonly seconds: number
      readonly etaSeconds: number
    }
  | {
      readonly type: 'evaluated'
      readonly arm: Arm
      readonly split: 'validation' | 'holdout'
      readonly tier: string
      readonly update: number
      readonly rate: SuccessRate
    }
  | {
      readonly type: 'gated'
      readonly receipt: ReceiptId
      readonly decision: GateDecision
      readonly reasons: readonly string[]
    }
  | { readonly type: 'released'; readonly release: ReleaseId }
  | { readonly type: 'finished'; readonly summary: LearnSummary }

/** How a run ended, measured on held-out tasks. */
export interface LearnSummary {
  readonly runId: RunId
  readonly base: SuccessRate
  readonly primed: SuccessRate
  readonly control: SuccessRate | null
  readonly learned: SuccessRate
  readonly decision: GateDecision
  readonly releaseId: ReleaseId | null
  readonly seconds: number
  readonly tokensSampled: number
  readonly tokensTrained: number
}
