import type { FinalState, Verifier } from '../../core/index.ts'
import type { RewardPart } from '../part.ts'

/**
 * A part that asks a checker whether the work was done.
 * @param check reads the final state and returns a score in [0, 1], or `null` when the state does not say.
 * @param name enters the rubric's hash: change it when the check changes.
 */
export function verifier(check: (state: FinalState) => number | null, name = check.name || 'verifier'): RewardPart {
  return {
    identity: `verifier:${name}`,
    score: ({ finalState }) => (finalState === null ? null : check(finalState)),
  }
}

/** A part from a {@link Verifier}. */
export function verifiedBy(port: Verifier): RewardPart {
  return { identity: `verifier:${port.name}`, score: (trajectory) => port.verify(trajectory) }
}
