import { type Canary, type CanaryOutcome, type CanaryReceipt, isPaired, type Store } from '../../core/index.ts'
import { InvariantError, present } from '../../errors/index.ts'
import { EARLIER_RULES, canaryGate, CanaryLevel } from '../../gate/index.ts'
import { keptOutcomes } from '../outcomes.ts'

/** The receipt that a canary was decided by. */
export async function receiptOf(
  { receipts }: Pick<Store, 'receipts'>,
  { receipt: id }: Canary,
): Promise<CanaryReceipt> {
  const receipt = present(await receipts.get(present(id, 'a receipt')), `receipt ${id}`)
  if (isPaired(receipt)) throw new InvariantError(`receipt ${receipt.id} of a canary is of held-out pairs`)
  return receipt
}

/** What is known now of the sessions that a canary was decided by. */
export async function sessionsNow(
  store: Pick<Store, 'audits' | 'canaries'>,
  canary: Canary,
  { sessions }: Pick<CanaryReceipt, 'sessions'>,
  now: number,
): Promise<readonly CanaryOutcome[]> {
  return keepKnown(sessions, await keptOutcomes(store, canary, now))
}

/** The gate that decided, and what it is asked now. */
export function again({ gate }: CanaryReceipt, sessions: readonly CanaryOutcome[]) {
  const { step, sessionsInStep, rewardRange, level, ...config } = gate.config
  const look = {
    sessions,
    step: step as number,
    sessionsInStep: sessionsInStep as number,
    rewardRange: rewardRange as unknown as readonly [number, number],
    ...(level !== undefined && { level: CanaryLevel.parse(level) }),
  }
  return { gate: canaryGate({ ...EARLIER_RULES, ...config }), look }
}

/**
 * What was known when it was decided and now waits again cannot be told: it counts as the worst for the candidate, and what
 * else was said of the canary goes on counting. As a draw that waits it would hide all that comes after it. Only its truth
 * can wait again: of a canary that has ended no judge's word does, so that taking a judge's words back takes no truth away.
 */
function keepKnown(then: readonly CanaryOutcome[], now: readonly CanaryOutcome[]): readonly CanaryOutcome[] {
  return now.map((session, i) => {
    const { audit } = session
    const wasKnown = then[i]?.audit?.settled === true
    return audit && wasKnown && !audit.settled
      ? { ...session, audit: { ...audit, settled: true, truth: null } }
      : session
  })
}

/** Whether what was known when it was decided is not what is known of it now. */
export function differ(then: readonly CanaryOutcome[], now: readonly CanaryOutcome[]): boolean {
  return then.some(({ audit }, i) => audit?.settled === true && now[i]?.audit?.truth !== audit.truth)
}
