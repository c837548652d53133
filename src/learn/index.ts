export { assertSameBase } from './run/base.ts'
export { LearnError, LostLeaseError } from './errors.ts'
export { lookName, succeeded } from './source/rollouts/evaluate.ts'
export { episodeId } from './episodes.ts'
export type { Arm, Baseline, LearnEvent } from './events.ts'
export {
  type Divergence,
  type LearnSummary,
  type RolloutSummary,
  RunOutcome,
  type SuccessRate,
  TrafficSummary,
} from './summary.ts'
export { learn } from './learn.ts'
export type { LearnOptions, RolloutOptions, RunOptions, TrafficOptions } from './options.ts'
export { canary, direct, type ReleasePlan, shadow } from './release-plan.ts'
export { type Retirement, retire } from './retirement.ts'
export { scheduleOf } from './source/rollouts/schedule-of.ts'
export { type AdapterScore, type LibraryAdapter, releasedAdapters } from './source/rollouts/library.ts'
export { policyKeys, PolicyLossName } from './source/policy-keys.ts'
export { recipe } from './source/rollouts/recipe.ts'
export { Schedule } from './source/rollouts/schedule.ts'
export { bestLook, type PrimingLook } from './steer/index.ts'
export type { ScriptedResults } from './source/rollouts/scripted.ts'
export {
  type HeldOut,
  type RolloutSource,
  rollouts,
  type Source,
  traffic,
  type TrafficSource,
  type TrafficSourceOptions,
  TrafficWindow,
} from './source.ts'
export { driftObserver, type DriftObserverParts } from './drift-observer.ts'
export { hasLearner } from './has-learner.ts'
export { fromTraffic } from './run/source-of.ts'
export { leaseOf, type Learner, type LearnerOptions, type LearnerRun, startLearner } from './learner.ts'
export type { LearnerEvent } from './learner/events.ts'
export { DropReason, EvidenceReport } from './source/traffic/evidence-report.ts'
export { freshEpisodes } from './source/traffic/fresh.ts'
export { LearningMode } from './source/traffic/learning-mode.ts'
export { TrafficSchedule } from './source/traffic/schedule.ts'
export { LearnFromTrafficConfig } from './source/traffic/config.ts'
export { chatJudge, type ChatJudgeOptions } from './audit/chat-judge.ts'
export { rubricVerifier, type AuditedSession, type AuditVerifier } from './audit/verifier.ts'
export { promotedByHand } from './source/traffic/by-hand.ts'
export { canaryGateFrom, canaryLook, type LookParts } from './canary-look.ts'
export { trafficFrom, trafficLearner, type TrafficLearnerParts } from './traffic-learner.ts'
export {
  type WrittenDemonstration,
  demonstrationFindings,
  environmentFindings,
  Finding,
  type Measure,
  type Proving,
  replayDemonstrations,
  verifierFindings,
} from './preflight/index.ts'
