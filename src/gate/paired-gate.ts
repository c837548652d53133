import type { z } from 'zod'
import type { LifetimeAlpha, PairedReceipt } from '../core/index.ts'
import { parseConfig, type PairedGateConfig } from './config.ts'
import { decide, type GateInput, type Verdict } from './decide.ts'
import { type RetirementClaim, retiringConfig } from './retiring.ts'
import { makeReceipt, PAIRED_GATE, type ReceiptInput } from './receipt.ts'

/** Compares a candidate with what serves, and with the rivals it is given, on tasks that neither has learned from. */
export interface Gate {
  readonly name: string
  /** Probability of a false promotion, at most, over all uses of one holdout: what to claim the holdout with. */
  readonly alpha: number
  /** What all candidates of the agent may spend together: what to claim a candidate's level with. */
  readonly lifetime: LifetimeAlpha | null
  /** What the evidence says; pure. */
  decide(input: GateInput): Verdict
  /** The decision with everything that it was made from: what a release rests on. */
  makeReceipt(input: ReceiptInput): PairedReceipt
  /**
   * The same gate for a candidate that gives up what a Parameter learned: it promotes where less than the stated loss is
   * shown. It claims holdouts and levels as any gate does.
   * @throws GateError for a loss that is not above 0, or for no Parameters.
   */
  retiring(retirement: RetirementClaim): Gate
}

/**
 * The gate for two arms attempted on the same held-out tasks. Its primary test is the one-sided test of a bounded mean
 * of `bounded-mean.ts`, on the paired differences: the truth table is at {@link decide}, the reasons for this test and
 * its simulated error rates and power in `docs/evidence.md`.
 * @throws GateError when the configuration is wrong.
 */
export function pairedGate(config: z.input<typeof PairedGateConfig>): Gate {
  return gateOf(parseConfig(config))
}

function gateOf(parsed: PairedGateConfig): Gate {
  return {
    name: PAIRED_GATE,
    alpha: parsed.alpha,
    lifetime: parsed.lifetime,
    decide: (input) => decide(parsed, input),
    makeReceipt: (input) => makeReceipt(parsed, input),
    retiring: (retirement) => gateOf(retiringConfig(parsed, retirement)),
  }
}
