export { allocate, teaches } from './allocate.ts'
export { Diagnosis, diagnose } from './diagnose.ts'
export { type FamilyOf, familiesOf } from './families.ts'
export { adapted, paceOf, settledPace, type Settling, shortened, type Stride } from './pace.ts'
export { afterLook, bestLook, PrimingLook, type PrimingTarget, type PrimingVerdict } from './priming.ts'
export { type Repeatability, repeatability } from './repeatability.ts'
export {
  type Attempted,
  deadFamilies,
  failingFamilies,
  isDead,
  overallRate,
  rateOf,
  recorded,
  Standing,
  Tally,
  tallyOf,
} from './standing.ts'
export { collapsed, isRising, reasonToStop, type StopRule, UpdateSign } from './watch.ts'
export { weightedDraw } from './weighted-draw.ts'
