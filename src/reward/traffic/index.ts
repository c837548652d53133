export {
  askedAgainSignal,
  defaultGuardRises,
  defaultGuardTolerances,
  GuardMetric,
  guardMetrics,
  type GuardMetrics,
  type GuardMetricsOptions,
  type GuardTolerance,
  type TokenPrices,
} from './guard-metrics.ts'
export {
  type LeftOut,
  type LimitedEvidence,
  limitReporters,
} from './limit-reporters.ts'
export { type HeardSession, ReporterShares } from './reporter-shares.ts'
export { type Contribution, type Excess, type SharedOut, shareOut } from './share-out.ts'
export { ReporterLimits, type SessionEvidence } from './shares.ts'
export { byTruth } from './by-truth.ts'
export { signalPays, type SignalPays } from './signal-pays.ts'
export { trafficRubric, TrafficRubricConfig, type TrafficRubricParts } from './traffic-rubric.ts'
