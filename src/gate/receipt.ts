import { contentHash, type GateDecision, type PairedOutcome, PairedReceipt, type VersionSet } from '../core/index.ts'
import { asStored } from './as-stored.ts'
import { inOrder } from './comparison.ts'
import { parseConfig, type PairedGateConfig } from './config.ts'
import { decide, type GateInput } from './decide.ts'

export const PAIRED_GATE = 'paired'

/** What is compared, and on what evidence. */
export interface ReceiptInput extends GateInput {
  readonly agent: string
  readonly baseline: VersionSet
  readonly candidate: VersionSet
  /** What the caller knows of the candidate beside its outcomes, one sentence each: kept after the deciding reason. */
  readonly remarks?: readonly string[]
}

/**
 * Decides, and keeps everything that the decision was made from. Outcomes are kept in the order of their task ids, so
 * that equal evidence gives an equal receipt; the id is the content hash of all the rest.
 */
export function makeReceipt(config: PairedGateConfig, input: ReceiptInput): PairedReceipt {
  const { agent, baseline, candidate, use, rewardRange, remarks = [] } = input
  const { decision, evidence, reasons } = decide(config, input)
  const [suites, rivals] = [inOrderByName(input.suites), inOrderByName(input.rivals)]
  const body = asStored({
    gate: { name: PAIRED_GATE, config: { ...config, rewardRange } },
    agent,
    baseline,
    candidate,
    outcomes: inOrder(input.outcomes),
    ...(suites && { suites }),
    ...(rivals && { rivals }),
    use,
    evidence,
    decision,
    reasons: [...reasons.slice(0, 1), ...remarks, ...reasons.slice(1)],
  })
  return PairedReceipt.parse({ ...body, id: contentHash(body) })
}

/** Outcomes by name, each in the order of their tasks; `null` without any. */
function inOrderByName(named: GateInput['suites'] = {}): Readonly<Record<string, readonly PairedOutcome[]>> | null {
  const entries = Object.entries(named).map(([name, outcomes]) => [name, inOrder(outcomes)] as const)
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

/** The decision that a receipt's outcomes lead to. */
export function decideAgain({ gate, outcomes, suites, rivals, use }: Omit<PairedReceipt, 'id'>): GateDecision {
  const { rewardRange, ...config } = gate.config
  return decide(parseConfig(config), {
    outcomes,
    ...(suites && { suites }),
    ...(rivals && { rivals }),
    use,
    rewardRange: rewardRange as unknown as GateInput['rewardRange'],
  }).decision
}
