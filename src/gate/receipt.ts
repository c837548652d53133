import { contentHash, type GateDecision, type Json, PairedReceipt, type VersionSet } from '../core/index.ts'
import { inOrder } from './comparison.ts'
import { parseConfig, type PairedGateConfig } from './config.ts'
import { decide, type GateInput } from './decide.ts'
import { ReceiptError } from './errors.ts'

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

/**
 * Makes the decision again from a receipt's outcomes and configuration (invariant 7). The stored decision, evidence and
 * reasons are not read for it.
 * @param receipt a receipt, from anywhere: it is checked.
 * @throws ReceiptError when it does not have the shape of a receipt, was changed after it was made, is of a gate that
 * is not known here, or states another decision than its outcomes lead to.
 */
export function replay(receipt: unknown): GateDecision {
  const parsed = PairedReceipt.safeParse(receipt)
  if (!parsed.success) {
    throw new ReceiptError({
      code: 'gate/receipt-malformed',
      message: 'This is not a receipt.',
      hint: 'Give a receipt as a gate made it.',
      cause: parsed.error,
    })
  }
  const { id, ...body } = parsed.data
  const hash = contentHash(asStored(body))
  if (hash !== id) {
    throw new ReceiptError({
      code: 'gate/receipt-tampered',
      message: `The receipt ${id} has the content hash ${hash}: it was changed after it was made.`,
      hint: 'Trust no release that rests on it; go back to the last release whose receipt replays.',
    })
  }
  if (body.gate.name !== PAIRED_GATE) {
    throw new ReceiptError({
      code: 'gate/receipt-of-unknown-gate',
      message: `The receipt ${id} is of the gate "${body.gate.name}", which is not known here.`,
      hint: `Known: "${PAIRED_GATE}". Replay it with the version of Ratchet that made it.`,
    })
  }
  const { rewardRange, ...config } = body.gate.config
  const { decision } = decide(parseConfig(config), {
    outcomes: body.outcomes,
    ...(body.suites && { suites: body.suites }),
    use: body.use,
    rewardRange: rewardRange as unknown as GateInput['rewardRange'],
  })
  if (decision !== body.decision) {
    throw new ReceiptError({
      code: 'gate/receipt-contradicted',
      message: `The receipt ${id} states "${body.decision}"; its outcomes lead to "${decision}".`,
      hint: 'Trust no release that rests on it; go back to the last release whose receipt replays.',
    })
  }
  return decision
}

/** The value as it is after a round trip through JSON text: what a store keeps, and what the id is the hash of. */
function asStored(value: unknown): { readonly [key: string]: Json } {
  return JSON.parse(JSON.stringify(value)) as { readonly [key: string]: Json }
}
