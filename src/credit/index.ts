export { batchBaseline, type BatchBaselineOptions } from './batch-baseline.ts'
export { batchZScore, type BatchZScoreOptions } from './batch-z-score.ts'
export {
  adca,
  type AdcaOptions,
  anchorStates,
  type AnchorStatesOptions,
  bounded,
  type BoundedOptions,
  discountedReturn,
  type DiscountedReturnOptions,
  durationAware,
  type DurationAwareOptions,
  type EarningStep,
  earnedSteps,
  gae,
  type GaeOptions,
  hindsight,
  type HindsightOptions,
  risingDiscount,
  type RisingDiscountOptions,
  shownBefore,
  stepDurations,
  stepFeatures,
  type SteppedAttempt,
  toolErrorLabels,
} from './by-step/index.ts'
export { CreditError } from './credit-error.ts'
export { downstream } from './downstream.ts'
export { groupJudged, type GroupJudgedOptions } from './group-judged.ts'
export { groupMean } from './group-mean.ts'
export { grpo } from './grpo.ts'
export { leaveOneOut } from './leave-one-out.ts'
export { maxRl, type MaxRlOptions } from './max-rl.ts'
export { outcomeCredit } from './outcome.ts'
export { roleCredit, type RoleCreditOptions } from './roles.ts'
export { team, type TeamOptions } from './team.ts'
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
