export { UnknownRunError } from './errors.ts'
export {
  type DecisionGraph,
  decisionGraph,
  type DrawnDecision,
  fitted,
  graphSvg,
  noteOf,
  speakerOf,
  wordsOf,
} from './graph/index.ts'
export { type ReportStore, reportOf } from './gather.ts'
export { renderReport } from './page.ts'
export type { RivalArithmetic, RunReport } from './run-report.ts'
export type { Reproduction } from './run-report.ts'
export { duration, figure, percentRange, signed, success } from './format.ts'
export {
  jsonProgress,
  label,
  learnerLine,
  measured,
  type Progress,
  progress,
  runLine,
  shown,
  terminalProgress,
} from './terminal/index.ts'
