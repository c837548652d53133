export { learnerLine } from './learner-line.ts'
export { jsonProgress, type Progress, progress, terminalProgress } from './progress.ts'
export { label, measured, runLine, shown } from './run-line.ts'
