import { z } from 'zod'
import { CanaryId, GateDecision, type Metrics, ReceiptId, RunId, VersionId } from '../../core/index.ts'
import { EvidenceReport } from './evidence-report.ts'

/** How far the weights have moved from those that sampled, over the sampled tokens of a batch. */
export const Divergence = z.strictObject({
  /** Mean of π_trainer / π_sampler; 1 where nothing moved. */
  ratio: z.number(),
  /** Estimate of KL(sampler ‖ trainer) in nats a token: the mean of ρ − 1 − ln ρ (Schulman 2020, "k3"). */
  kl: z.number(),
})
export type Divergence = z.infer<typeof Divergence>

/**
 * What became of a run.
 * - `nothing-to-learn`: no evidence carried a signal, and nobody showed or preferred anything; or what was learned changed
 *   nothing.
 * - `rejected`: the held-out tasks do not show that the candidate is better.
 * - `shadow`: the candidate and its evidence are kept; nobody gets it.
 * - `canary`: a share of the sessions gets it.
 * - `superseded`: something else serves, or is tried, than what it began from; or what serves is pinned. Nobody gets it.
 */
export const TrafficOutcome = z.enum(['nothing-to-learn', 'rejected', 'shadow', 'canary', 'superseded'])
export type TrafficOutcome = z.infer<typeof TrafficOutcome>

/** How a run of learning from traffic ended. */
export const TrafficSummary = z.strictObject({
  runId: RunId,
  agent: z.string(),
  outcome: TrafficOutcome,
  /** One sentence. */
  reason: z.string(),
  /** What speaks for the candidate before anybody gets it. */
  evidence: z.enum(['held-out', 'canary-only']),
  learned: EvidenceReport,
  /** Sequences of earlier runs that were learned from again, over all passes. */
  replayed: z.int().nonnegative(),
  passes: z.strictObject({
    demonstrations: z.int().nonnegative(),
    preferences: z.int().nonnegative(),
    epochs: z.int().nonnegative(),
  }),
  /** As the last epoch of policy gradient left it; `null` where there was nothing to practise on. */
  divergence: Divergence.nullable(),
  candidate: VersionId.nullable(),
  decision: GateDecision.nullable(),
  receipt: ReceiptId.nullable(),
  canary: CanaryId.nullable(),
  seconds: z.number().nonnegative(),
  tokensTrained: z.int().nonnegative(),
})
export type TrafficSummary = Readonly<z.infer<typeof TrafficSummary>>

/** What a run of learning from traffic tells while it goes. Everything but `progress` is kept in the store. */
export type TrafficEvent =
  | {
      readonly type: 'started'
      readonly runId: RunId
      readonly agent: string
      readonly seed: number
      /** The phase that it goes on from; `null` for a new run. */
      readonly resumedAt: string | null
    }
  | { readonly type: 'progress'; readonly phase: string; readonly done: number; readonly total: number }
  | ({ readonly type: 'gathered' } & EvidenceReport)
  | { readonly type: 'anchored'; readonly sequences: number; readonly strength: number }
  | {
      readonly type: 'imitated' | 'preferred'
      readonly pass: number
      readonly passes: number
      readonly metrics: Metrics
      readonly seconds: number
    }
  | {
      readonly type: 'practised'
      readonly epoch: number
      readonly epochs: number
      readonly metrics: Metrics
      readonly divergence: Divergence
      readonly seconds: number
    }
  | { readonly type: 'out-of-bounds'; readonly epoch: number; readonly divergence: Divergence }
  | {
      readonly type: 'measured'
      readonly suite: string
      readonly arm: 'serving' | 'learned'
      readonly meanReward: number | null
      readonly n: number
    }
  | {
      readonly type: 'gated'
      readonly receipt: ReceiptId
      readonly decision: GateDecision
      readonly reasons: readonly string[]
    }
  | { readonly type: 'tried'; readonly canary: CanaryId; readonly share: number }
  | { readonly type: 'finished'; readonly summary: TrafficSummary }
