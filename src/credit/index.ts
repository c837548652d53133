export { groupMean } from './group-mean.ts'
export { grpo } from './grpo.ts'
export { leaveOneOut } from './leave-one-out.ts'
export { outcomeCredit } from './outcome.ts'
