import { z } from 'zod'
import { CanaryId, GateDecision, ReceiptId, ReleaseId, RunId, VersionId } from '../core/index.ts'
import { Brought } from '../gate/index.ts'
import { EvidenceReport } from './source/traffic/evidence-report.ts'

/** A success rate with its 95 % Wilson interval. `success` is `null` only when nothing could be scored. */
export const SuccessRate = z.strictObject({
  success: z.number().min(0).max(1).nullable(),
  n: z.int().nonnegative(),
  ci: z.tuple([z.number(), z.number()]).readonly(),
  /** Episodes without a reward, through no act of the policy. */
  missing: z.int().nonnegative(),
})
export type SuccessRate = Readonly<z.infer<typeof SuccessRate>>

/** What the arms earned on the held-out tasks. */
export const MeasuredRates = z.strictObject({
  base: SuccessRate,
  primed: SuccessRate,
  control: SuccessRate.nullable(),
  learned: SuccessRate,
})
export type MeasuredRates = Readonly<z.infer<typeof MeasuredRates>>

/** How far the weights have moved from those that sampled, over the sampled tokens of a batch. */
export const Divergence = z.strictObject({
  /** Mean of π_trainer / π_sampler; 1 where nothing moved. */
  ratio: z.number(),
  /** Estimate of KL(sampler ‖ trainer) in nats a token: the mean of ρ − 1 − ln ρ (Schulman 2020, "k3"). */
  kl: z.number(),
})
export type Divergence = z.infer<typeof Divergence>

/**
 * What became of a run's candidate.
 * - `nothing-to-learn`: there is none: no evidence carried a signal, and nobody showed or preferred anything; or what was
 *   learned changed nothing.
 * - `rejected`: the held-out tasks do not show that it is better.
 * - `shadow`: it is kept with its evidence; nobody gets it.
 * - `canary`: a share of the sessions gets it.
 * - `released`: it serves everybody.
 * - `superseded`: something else serves, or is tried, than what the run began from; or what serves is pinned. Nobody gets it.
 */
export const RunOutcome = z.enum(['nothing-to-learn', 'rejected', 'shadow', 'canary', 'released', 'superseded'])
export type RunOutcome = z.infer<typeof RunOutcome>

/** How a run over rollouts ended, measured on held-out tasks. */
export const RolloutSummary = z.strictObject({
  runId: RunId,
  ...MeasuredRates.shape,
  decision: GateDecision,
  /** What each Parameter of the candidate brought, where several had changed; left out where one had. */
  brought: z.array(Brought).readonly().exactOptional(),
  /** The release that it made, or the canary that it began. */
  releaseId: ReleaseId.nullable(),
  canary: CanaryId.exactOptional(),
  /** What became of a candidate that the gate promotes and that does not serve everybody, and why. */
  outcome: RunOutcome.exactOptional(),
  reason: z.string().exactOptional(),
  seconds: z.number().nonnegative(),
  tokensSampled: z.int().nonnegative(),
  /** Tokens of the data of every training step, context included, once for each time that they were trained on. */
  tokensTrained: z.int().nonnegative(),
})
export type RolloutSummary = Readonly<z.infer<typeof RolloutSummary>>

/** How a run over traffic ended. */
export const TrafficSummary = z.strictObject({
  runId: RunId,
  agent: z.string(),
  outcome: RunOutcome,
  /** One sentence. */
  reason: z.string(),
  /** What speaks for the candidate before anybody gets it. */
  evidence: z.enum(['held-out', 'canary-only']),
  learned: EvidenceReport,
  /** Sequences of earlier runs that were learned from again, over all passes, and over all weights that learned. */
  replayed: z.int().nonnegative(),
  passes: z.strictObject({
    demonstrations: z.int().nonnegative(),
    preferences: z.int().nonnegative(),
    epochs: z.int().nonnegative(),
  }),
  /** As the last epoch of policy gradient left it, of several weights the furthest; `null` where there was nothing to practise on. */
  divergence: Divergence.nullable(),
  candidate: VersionId.nullable(),
  decision: GateDecision.nullable(),
  /** What each Parameter of the candidate brought on held-out tasks, where several had changed; else left out. */
  brought: z.array(Brought).readonly().exactOptional(),
  receipt: ReceiptId.nullable(),
  canary: CanaryId.nullable(),
  seconds: z.number().nonnegative(),
  tokensTrained: z.int().nonnegative(),
})
export type TrafficSummary = Readonly<z.infer<typeof TrafficSummary>>

/** How a run ended. */
export type LearnSummary = RolloutSummary | TrafficSummary
