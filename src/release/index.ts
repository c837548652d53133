export { type ServingAgent, type Versions } from './assignment.ts'
export { type AuditedCanary, auditedCanaries } from './audit/audited-canary.ts'
export { calibrationOf, type PaidBy, type SaidByLabels, saidByLabels } from './audit/calibrated.ts'
export { auditOf } from './audit/draw.ts'
export { asksForTruth, DrawsRead } from './audit/draws-read.ts'
export { newReopenMemory, type Reopened, reopen, type ReopenMemory, type ReopenOptions } from './audit/reopen.ts'
export { newStoppedMemory, type StoppedMemory, type StoppedOptions, tellOfStopped } from './audit/stopped.ts'
export type { CanaryRules, NewCanary, PromotedCanary } from './canary-changes.ts'
export {
  CanaryEndedError,
  CanaryRunningError,
  NoCanaryError,
  NothingToTryError,
  OtherCanaryError,
  PinnedError,
  ServingChangedError,
  UnknownCanaryError,
} from './canary-errors.ts'
export { type MadeByHand, UnknownCandidateError, versionsByHand } from './by-hand.ts'
export { type CanaryNote, percentOf, runningCanary, shareOf, watchedUntil } from './canary-record.ts'
export { declaredParameters } from './declare.ts'
export { deploy, type Deployment, type DeployOptions } from './deployment/deploy.ts'
export { DeploymentError } from './deployment/errors.ts'
export type { SessionRequest } from './deployment/session-request.ts'
export {
  type DriftAlert,
  DriftConfig,
  DriftWatchState,
  NEW_WATCH,
  anotherRelease,
  type WatchedSession,
  watchSession,
} from './drift/index.ts'
export {
  CandidateError,
  InitialChangedError,
  NothingToRollBackToError,
  NotPromotedError,
  NotServingError,
  ReleaseError,
  SpentReceiptError,
  StaleReceiptError,
  UnknownAgentError,
  UnknownReleaseError,
} from './errors.ts'
export { type CanaryMemory, countSessions, type Gathered, newCanaryMemory, type SessionCounts } from './outcomes.ts'
export {
  agentNames,
  type AgentOverview,
  type AgentState,
  agentState,
  type ReleaseEvidence,
  type ListedRelease,
  nameWithin,
  overviewOf,
  type ShownCanary,
  shownCanary,
  stateOf,
} from './overview.ts'
export { Registry } from './registry.ts'
export type { CanaryStop, Serving, WentBack } from './serving.ts'
export type { Promotion } from './release-changes.ts'
export { servesOtherwise } from './release-record.ts'
export { openReleaseRouter, type ReleaseRouter, type ReleaseRouterOptions } from './router.ts'
export type { ServingAgents } from './served.ts'
export { type Looked, watchCanary, type WatchOptions } from './watch.ts'
