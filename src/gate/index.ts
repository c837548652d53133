export { Agreement, agreementOf, ReviewerStanding } from './audit/agreement.ts'
export { alikeReviewers, contraryReviewers, toldBy } from './audit/alike.ts'
export {
  calibrate,
  Calibration,
  type CalibrationSession,
  calibrationSessions,
  factorsIn,
  SignalTells,
  SignalWorth,
} from './audit/calibration.ts'
export { JudgeBeside, judgeBeside } from './audit/judge-beside.ts'
export { type AuditPlan, AuditQuestion, planAudit } from './audit/plan.ts'
export { type Judgements, poweredDifference, type PoweredMean, poweredMean } from './audit/ppi.ts'
export { countingLabels, hasJudgeBeside, judgeWordOf, type Truth, truthOf } from './audit/truth.ts'
export { type AuditObservation, truthAbove, type TruthEvidence } from './audit/truth-test.ts'
export { meanAbove, meanLowerBound } from './bounded-mean.ts'
export { Brought, broughtBy, broughtInWords, noLoss, verdictInWords } from './brought.ts'
export { GuardLimit, PairedGateConfig, SuiteLimit } from './config.ts'
export { type CanaryGate, canaryGate } from './canary/canary-gate.ts'
export {
  type Basis,
  basisOf,
  EARLIER_RULES,
  BoundedGuard,
  CanaryConfig,
  CanaryGuard,
  CanaryLevel,
  RelativeGuard,
} from './canary/config.ts'
export type { CanaryLook, CanaryVerdict } from './canary/look.ts'
export type { CanaryAction } from './canary/rule.ts'
export type { CanaryReceiptInput } from './canary/receipt.ts'
export { differenceAbove, type DifferenceEvidence, type Observation } from './canary/difference-test.ts'
export type { GateInput, Verdict } from './decide.ts'
export { GateError, HoldoutExhaustedError, ReceiptError } from './errors.ts'
export { type Interval, pairedInterval, wilson } from './interval.ts'
export { type HoldoutClaim, holdoutHash, MAX_USES, nextUse, claimHoldout } from './ledger.ts'
export { claimLevel, type LevelClaim, levelInWords, levelOf } from './lifetime.ts'
export { type ArmResult, pairOutcomes } from './outcomes.ts'
export { type Gate, pairedGate } from './paired-gate.ts'
export { PAIRED_GATE } from './receipt.ts'
export { criticalWins, promotionProbability } from './power.ts'
export { type ReceiptInput } from './receipt.ts'
export { replay } from './replay.ts'
export { levelOfUse, retiredIn, type RetirementClaim, tasksToRetire } from './retiring.ts'
export type { RewardRange } from './reward-range.ts'
