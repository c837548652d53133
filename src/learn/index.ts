export { assertSameBase } from './base.ts'
export { LearnError } from './errors.ts'
export { lookName, succeeded } from './evaluate.ts'
export { episodeId } from './episodes.ts'
export type { Arm, Baseline, LearnEvent, LearnSummary, SuccessRate } from './events.ts'
export { learn } from './learn.ts'
export type { LearnOptions } from './options.ts'
export { scheduleOf } from './schedule-of.ts'
export { recipe } from './recipe.ts'
export { Schedule } from './schedule.ts'
export { bestLook, type PrimingLook } from './steer/index.ts'
export type { ScriptedResults } from './scripted.ts'
export {
  type HeldOut,
  type RolloutSource,
  rollouts,
  type Source,
  traffic,
  type TrafficSource,
  TrafficWindow,
} from './source.ts'
export { driftObserver, type DriftObserverParts } from './drift-observer.ts'
export { Duration } from './duration.ts'
export { hasLearner } from './has-learner.ts'
export { leaseOf, type Learner, type LearnerOptions, type LearnerRun, startLearner } from './learner.ts'
export type { LearnerEvent } from './learner/events.ts'
export { LostLeaseError } from './errors.ts'
export { TrafficOutcome, TrafficSummary, type TrafficEvent } from './traffic/events.ts'
export { DropReason, EvidenceReport } from './traffic/evidence-report.ts'
export { freshEpisodes } from './traffic/fresh.ts'
export { type Evaluation, LearningMode, type TrafficLearnOptions, TrafficSchedule } from './traffic/options.ts'
export { LearnFromTrafficConfig } from './traffic/config.ts'
export { rubricVerifier, type AuditedSession, type AuditVerifier } from './audit/verifier.ts'
export { promotedByHand } from './traffic/by-hand.ts'
export { canaryGateFrom, canaryLook, type LookParts } from './canary-look.ts'
export { trafficFrom, trafficLearner, type TrafficLearnerParts } from './traffic-learner.ts'
export {
  type WrittenDemonstration,
  demonstrationFindings,
  environmentFindings,
  Finding,
  type Measure,
  type Proving,
  replayFindings,
  verifierFindings,
} from './preflight/index.ts'
