export { toAtif } from './atif.ts'
export { fromAtif } from './atif-import.ts'
export { AtifTrajectory } from './atif-schema.ts'
export type { Imported } from './exchange.ts'
export type { ImportOptions } from './imported.ts'
export {
  type GroupRow,
  groupRows,
  type PreferenceRow,
  preferenceRows,
  type RowMessage,
  type Rows,
  type SftRow,
  type Skipped,
  sftRows,
} from './rows.ts'
export { fromVerifiers } from './verifiers-import.ts'
export { toVerifiers } from './verifiers.ts'
export { VerifiersTrace } from './verifiers-schema.ts'
export { PullRequestReview, type ReviewedAs, reviewSignal } from './reviews.ts'
