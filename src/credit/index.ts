export { batchBaseline, type BatchBaselineOptions } from './batch-baseline.ts'
export { downstream } from './downstream.ts'
export { groupMean } from './group-mean.ts'
export { grpo } from './grpo.ts'
export { leaveOneOut } from './leave-one-out.ts'
export { outcomeCredit } from './outcome.ts'
export { utilities } from './utilities.ts'
export { taskFeatures, valueBaseline, type ValueBaselineOptions } from './value-baseline.ts'
export {
  Imitated,
  type IsInContext,
  lagOf,
  type Lags,
  lagsOf,
  type Reading,
  shownIn,
  type Shown,
  todaysContext,
} from './lessons/index.ts'
