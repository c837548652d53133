import type { z } from 'zod'
import type { CanaryReceipt, Json } from '../../core/index.ts'
import { asStored } from '../as-stored.ts'
import { type CanaryConfig, parseCanaryConfig } from './config.ts'
import { type CanaryLook, type CanaryVerdict, lastStep, look } from './look.ts'
import { CANARY_GATE, type CanaryReceiptInput, makeCanaryReceipt } from './receipt.ts'

/** Compares a candidate with what serves, on live sessions of both, as often as one likes. */
export interface CanaryGate {
  readonly name: 'canary'
  /** The shares at which both arms serve, rising; below 1: the whole of the sessions is what a promotion gives. */
  readonly shares: readonly number[]
  /** The configuration, all defaults filled in; makes an equal gate. */
  readonly config: Readonly<Record<string, Json>>
  /** What is to be done now; pure. */
  look(input: CanaryLook): CanaryVerdict
  /** The decision with everything that it was made from: what a release rests on. */
  makeReceipt(input: CanaryReceiptInput): CanaryReceipt
}

/**
 * The gate for live sessions, each of which had one of the arms. Its tests are the e-values of `difference-test.ts`, the
 * truth table is at {@link look}; simulated error rates, power and exposure are in `docs/evidence.md`.
 * @throws GateError when the configuration is wrong.
 */
export function canaryGate(config: z.input<typeof CanaryConfig> = {}): CanaryGate {
  const parsed = parseCanaryConfig(config)
  return {
    name: CANARY_GATE,
    shares: parsed.shares.slice(0, lastStep(parsed.shares) + 1),
    config: asStored(parsed),
    look: (input) => look(parsed, input),
    makeReceipt: (input) => makeCanaryReceipt(parsed, input),
  }
}
