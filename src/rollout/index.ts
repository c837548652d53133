export { type RolloutRequest, rollout, type StragglerCut } from './rollout.ts'
