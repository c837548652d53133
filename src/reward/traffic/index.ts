export {
  defaultGuardTolerances,
  GuardMetric,
  guardMetrics,
  type GuardMetricsOptions,
  type GuardTolerance,
  type Prices,
} from './guard-metrics.ts'
export { trafficRubric, TrafficRubricConfig, type TrafficRubricParts } from './traffic-rubric.ts'
