export {
  defaultGuardTolerances,
  GuardMetric,
  guardMetrics,
  type GuardMetrics,
  type GuardMetricsOptions,
  type GuardTolerance,
  type Prices,
} from './guard-metrics.ts'
export {
  type LeftOut,
  type Limited,
  limitReporters,
  ReporterLimits,
  type SessionEvidence,
} from './limit-reporters.ts'
export { trafficRubric, TrafficRubricConfig, type TrafficRubricParts } from './traffic-rubric.ts'
