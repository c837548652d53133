import {
  AlertId,
  type Canary,
  type CanaryOutcome,
  type CanaryReceipt,
  contentHash,
  type Pin,
  type Release,
  type Store,
} from '../../core/index.ts'
import { EARLIER_RULES, canaryGate, CanaryLevel } from '../../gate/index.ts'
import { keptOutcomes } from '../outcomes.ts'
import type { Registry } from '../registry.ts'
import { auditOf } from './draw.ts'
import { promotedByCanary } from './promoted.ts'

/** What looking again at a decision takes. */
export interface ReopenOptions {
  readonly store: Pick<Store, 'alerts' | 'audits' | 'canaries' | 'receipts' | 'releases'>
  readonly registry: Registry
  readonly agent: string
  /** What was looked at last, and its mark: kept by the caller, so that equal labels are read and judged once. */
  readonly memory: { seen: string | null; mark: string | null }
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** A release that went back, as labels that came after its promotion say otherwise. */
export interface Reopened {
  readonly release: Release
  readonly receipt: CanaryReceipt
  readonly reasons: readonly string[]
}

/**
 * Looks again at the audited canary that what serves came from, with what its labels say now. It goes back, with a receipt,
 * where all labels together show a harm; and where labels that its promotion rested on were changed, contradicted or taken
 * back and what is left, with those as missing, does not show the gain. More labels alone, which show neither, leave it: the gain was shown.
 * While it is pinned it stays, and an Alert says what its labels say.
 * @returns `null` where what serves stays.
 * @throws ReleaseError, StoreError
 */
export async function reopen({ store, registry, agent, memory, now }: ReopenOptions): Promise<Reopened | null> {
  const promoted = await promotedByCanary(store, agent)
  // What was taken up again by hand stays: somebody has decided.
  if (!promoted || promoted.cameIn.reason !== 'promote' || auditOf(promoted.canary) === null) return null
  const { release, receipt, canary } = promoted
  // Its labels are read after their mark: those that come meanwhile are another look's.
  const pin = await store.releases.pinned(agent)
  const mark = await markOf(store, release, canary, { pinned: pin !== null, now })
  if (memory.mark === mark) return null
  const sessions = keepKnown(receipt.sessions, await keptOutcomes(store, canary, now))
  const seen = contentHash({ release: release.id, audits: JSON.stringify(sessions.map(({ audit }) => audit ?? null)) })
  if (memory.seen === seen) {
    memory.mark = mark
    return null
  }
  const { gate, look } = again(receipt, sessions)
  const verdict = gate.look({ ...look, admitted: receipt.admission !== null })
  const changed = differ(receipt.sessions, sessions)
  if (verdict.decision !== 'reject' && (!changed || verdict.decision === 'promote')) {
    memory.seen = seen
    memory.mark = mark
    return null
  }
  const reasons = [...(verdict.decision === 'reject' ? [] : [withdrawn]), ...verdict.reasons]
  if (pin) {
    memory.mark = mark
    await tellPinned(store, canary, { pin, reason: reasons[0] ?? '', now })
    return null
  }
  const shown = gate.makeReceipt({
    ...look,
    agent,
    baseline: receipt.baseline,
    candidate: receipt.candidate,
    canary: canary.id,
    admission: receipt.admission,
    ...(receipt.changes && { changes: receipt.changes }),
  })
  const back = await registry.takeBack(shown, reasons, now)
  return { release: back, receipt: shown, reasons }
}

const withdrawn =
  'Labels that its promotion rested on were changed or taken back, and what is left does not show the gain.'

/** Contradictions that wait for too long count without a word: so often it is looked at again, whatever was said. */
const readAgainMs = 3_600_000

/** Tells without reading the sessions whether there is something new to look at. */
async function markOf(
  { audits }: Pick<Store, 'audits'>,
  { id }: Release,
  canary: Canary,
  { pinned, now }: { readonly pinned: boolean; readonly now: number },
): Promise<string> {
  return JSON.stringify([id, await audits.marks(canary.id), pinned, Math.floor(now / readAgainMs)])
}

/** Tells people, once for each pin, that labels speak against what they pinned. */
async function tellPinned(
  { alerts }: Pick<Store, 'alerts'>,
  { id: canary, agent }: Canary,
  { pin, reason, now }: { readonly pin: Pin; readonly reason: string; readonly now: number },
): Promise<void> {
  const id = AlertId.parse(contentHash({ reopen: canary, pinnedAt: pin.at }).slice(0, 16))
  if (await alerts.get(id)) return
  const message = `Labels speak against the release ${pin.release}, which is pinned and stays. ${reason} \`ratchet rollback\` takes it back; after \`ratchet unpin\` it goes back by itself.`
  const evidence = { canary, release: pin.release }
  await alerts.put({ id, agent, kind: 'audit', name: canary, message, evidence, run: null, at: now })
}

/** The gate that decided, and what it is asked now. */
function again({ gate }: CanaryReceipt, sessions: readonly CanaryOutcome[]) {
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
function differ(then: readonly CanaryOutcome[], now: readonly CanaryOutcome[]): boolean {
  return then.some(({ audit }, i) => audit?.settled === true && now[i]?.audit?.truth !== audit.truth)
}
