import type { CanaryGate } from '../../../gate/index.ts'

/** A canary's gate that goes back by itself and on to the next share, and leaves the promotion to a person. */
export function promotedByHand(gate: CanaryGate): CanaryGate {
  return {
    ...gate,
    look(input) {
      const verdict = gate.look(input)
      if (verdict.action !== 'promote') return verdict
      return {
        ...verdict,
        action: 'wait',
        reasons: ['the gate would promote: `ratchet promote` does', ...verdict.reasons],
      }
    },
  }
}
