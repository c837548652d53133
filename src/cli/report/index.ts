export { UnknownRunError } from './errors.ts'
export { type ReportStore, reportOf } from './gather.ts'
export { renderReport } from './page.ts'
export type { RivalArithmetic, RunReport } from './run-report.ts'
