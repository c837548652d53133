export {
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
  ReporterLimits,
  type SessionEvidence,
} from './limit-reporters.ts'
export { type HeardSession, ReporterShares } from './reporter-shares.ts'
export { trafficRubric, TrafficRubricConfig, type TrafficRubricParts } from './traffic-rubric.ts'
