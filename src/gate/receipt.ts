import { contentHash, type GateDecision, PairedReceipt, type VersionSet } from '../core/index.ts'
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
}

/**
 * Decides, and keeps everything that the decision was made from. Outcomes are kept in the order of their task ids, so
 * that equal evidence gives an equal receipt; the id is the content hash of all the rest.
 */
export function makeReceipt(config: PairedGateConfig, input: ReceiptInput): PairedReceipt {
  const { agent, baseline, candidate, use, rewardRange } = input
  const { decision, evidence, reasons } = decide(config, input)
  const suites = Object.entries(input.suites ?? {}).map(([name, outcomes]) => [name, inOrder(outcomes)])
  const body = asStored({
    gate: { name: PAIRED_GATE, config: { ...config, rewardRange } },
    agent,
    baseline,
    candidate,
    outcomes: inOrder(input.outcomes),
    ...(suites.length > 0 && { suites: Object.fromEntries(suites) }),
    use,
    evidence,
    decision,
    reasons,
  })
  return PairedReceipt.parse({ ...body, id: contentHash(body) })
}

/** The decision that a receipt's outcomes lead to. */
export function decideAgain({ gate, outcomes, suites, use }: Omit<PairedReceipt, 'id'>): GateDecision {
  const { rewardRange, ...config } = gate.config
  return decide(parseConfig(config), {
    outcomes,
    ...(suites && { suites }),
    use,
    rewardRange: rewardRange as unknown as GateInput['rewardRange'],
  }).decision
}
