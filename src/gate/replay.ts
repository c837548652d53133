import { contentHash, type GateDecision, isPaired, Receipt } from '../core/index.ts'
import { asStored } from './as-stored.ts'
import { CANARY_GATE, decideAgain as decideCanaryAgain } from './canary/receipt.ts'
import { ReceiptError } from './errors.ts'
import { decideAgain as decidePairedAgain, PAIRED_GATE } from './receipt.ts'

/**
 * Makes the decision again from a receipt's outcomes, or sessions, and configuration (invariant 7). The stored decision,
 * evidence and reasons are not read for it.
 * @param receipt a receipt, from anywhere: it is checked.
 * @throws ReceiptError when it does not have the shape of a receipt, was changed after it was made, is of a gate that
 * is not known here, or states another decision than its outcomes lead to.
 */
export function replay(receipt: unknown): GateDecision {
  const parsed = Receipt.safeParse(receipt)
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
  const decision = decideAgain(parsed.data)
  if (decision !== body.decision) {
    throw new ReceiptError({
      code: 'gate/receipt-contradicted',
      message: `The receipt ${id} states "${body.decision}"; its outcomes lead to "${decision}".`,
      hint: 'Trust no release that rests on it; go back to the last release whose receipt replays.',
    })
  }
  return decision
}

function decideAgain(receipt: Receipt): GateDecision {
  const known = isPaired(receipt) ? PAIRED_GATE : CANARY_GATE
  if (receipt.gate.name !== known) {
    throw new ReceiptError({
      code: 'gate/receipt-of-unknown-gate',
      message: `The receipt ${receipt.id} is of the gate "${receipt.gate.name}", which is not known here.`,
      hint: `Known for such outcomes: "${known}". Replay it with the version of Ratchet that made it.`,
    })
  }
  return isPaired(receipt) ? decidePairedAgain(receipt) : decideCanaryAgain(receipt)
}
