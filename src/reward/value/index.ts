export { ActionValue, actionValue, valueRanker } from './action-value.ts'
export { type Experience, experience, type Move, shownExperience } from './experience.ts'
export { fitActionValue, type FittedValue, type ValueEvidence, type ValueOptions } from './fit-action-value.ts'
export { fittingFeatures, type MoveFeatures } from './move-features.ts'
