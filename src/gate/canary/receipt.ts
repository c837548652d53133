import {
  type CanaryId,
  CanaryReceipt,
  contentHash,
  type GateDecision,
  type ReceiptId,
  type VersionSet,
} from '../../core/index.ts'
import { asStored } from '../as-stored.ts'
import { EARLIER_RECEIPT_RULES, type CanaryConfig, CanaryLevel, parseCanaryConfig } from './config.ts'
import { type CanaryLook, look } from './look.ts'

export const CANARY_GATE = 'canary'

/** What is compared, and on what evidence. */
export interface CanaryReceiptInput extends Omit<CanaryLook, 'admitted'> {
  readonly agent: string
  readonly baseline: VersionSet
  readonly candidate: VersionSet
  readonly canary: CanaryId
  /** The receipt on held-out tasks that the canary began with; `null`: the evidence is the canary's alone. */
  readonly admission: ReceiptId | null
  /** What else came to serve in both arms while it ran, oldest first. Default: nothing. */
  readonly changes?: CanaryReceipt['changes']
}

/** Looks, and keeps everything that the decision was made from; the id is the content hash of all the rest. */
export function makeCanaryReceipt(config: CanaryConfig, input: CanaryReceiptInput): CanaryReceipt {
  const { agent, baseline, candidate, canary, admission, sessions, step, sessionsInStep, rewardRange, level } = input
  const { changes = [] } = input
  const { decision, evidence, reasons } = look(config, { ...input, admitted: admission !== null })
  const body = asStored({
    gate: { name: CANARY_GATE, config: { ...config, ...(level && { level }), step, sessionsInStep, rewardRange } },
    agent,
    baseline,
    candidate,
    canary,
    admission,
    sessions,
    evidence,
    decision,
    reasons,
    ...(changes.length > 0 && { changes }),
  })
  return CanaryReceipt.parse({ ...body, id: contentHash(body) })
}

/** The decision that a receipt's sessions lead to. */
export function decideAgain({
  gate,
  sessions,
  admission,
}: Pick<CanaryReceipt, 'gate' | 'sessions' | 'admission'>): GateDecision {
  const { step, sessionsInStep, rewardRange, level, ...config } = gate.config
  return look(parseCanaryConfig({ ...EARLIER_RECEIPT_RULES, ...config }), {
    admitted: admission !== null,
    sessions,
    step: step as number,
    sessionsInStep: sessionsInStep as number,
    rewardRange: rewardRange as unknown as CanaryLook['rewardRange'],
    ...(level !== undefined && { level: CanaryLevel.parse(level) }),
  }).decision
}
