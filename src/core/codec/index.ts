export { toAtif } from './atif.ts'
export { fromAtif } from './atif-import.ts'
export { AtifTrajectory } from './atif-schema.ts'
export type { Exported, Imported } from './exchange.ts'
export type { ImportOptions } from './imported.ts'
export {
  type GroupRow,
  groupRows,
  isWhole,
  type PreferenceRow,
  preferenceRows,
  type RowMessage,
  type Rows,
  type SftRow,
  type ShownTurn,
  type Skipped,
  sftRows,
  shownTurns,
  stepsByAction,
  taughtTurns,
} from './rows.ts'
export { fromVerifiers } from './verifiers-import.ts'
export { toVerifiers } from './verifiers.ts'
export { VerifiersTrace } from './verifiers-schema.ts'
