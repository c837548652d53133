import {
  AlertId,
  type Canary,
  type CanaryId,
  type CanaryReceipt,
  contentHash,
  type Pin,
  type Release,
  type Store,
  tellOnce,
} from '../../core/index.ts'
import type { Registry } from '../registry.ts'
import { again, differ, receiptOf, sessionsNow } from './decided.ts'
import { auditOf } from './draw.ts'
import { promotedCanaries } from './promoted.ts'

/** What looking again at decisions takes. */
export interface ReopenOptions {
  readonly store: Pick<Store, 'alerts' | 'audits' | 'canaries' | 'receipts' | 'releases'>
  readonly registry: Registry
  readonly agent: string
  /** What was looked at before: kept by the caller, so that equal labels are read and judged once. */
  readonly memory: ReopenMemory
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** What looks at an agent's decisions remember. Lost with its process: then all are looked at once more. */
export interface ReopenMemory {
  /** Of what served when canaries were last looked for; `null` before that. */
  generation: number | null
  /** Those that it came from, the latest promotion first. */
  promoted: readonly Canary[]
  /** What was looked at last of each of these, and its mark. */
  readonly looked: Map<CanaryId, LookedAt>
}

interface LookedAt {
  readonly seen: string | null
  readonly mark: string
}

export const newReopenMemory = (): ReopenMemory => ({ generation: null, promoted: [], looked: new Map() })

/** What went back, as labels that came after its promotion say otherwise. */
export interface Reopened {
  readonly release: Release
  readonly receipt: CanaryReceipt
  readonly reasons: readonly string[]
}

/**
 * Looks again at the audited canaries that what serves came from, Parameter by Parameter, with what their labels say now. What
 * one brought goes back, with a receipt, where all of its labels together show a harm; and where labels that its promotion
 * rested on were changed, contradicted or taken back and what is left, with those as missing, does not show the gain. More
 * labels alone, which show neither, leave it: the gain was shown. Parameters that another one changed since stay as they are.
 * While what serves is pinned it stays, and an Alert says what the labels say.
 * @returns the first that went back, so that whoever asks again finds the next; `null` where all stay.
 * @throws ReleaseError, StoreError
 */
export async function reopen(options: ReopenOptions): Promise<Reopened | null> {
  const { store, agent, memory } = options
  const generation = (await store.releases.current(agent))?.generation ?? null
  if (generation !== memory.generation) {
    const promoted = await promotedCanaries(store, agent)
    memory.promoted = promoted.map(({ canary }) => canary).filter((canary) => auditOf(canary) !== null)
    memory.generation = generation
    const known = new Set(memory.promoted.map(({ id }) => id))
    for (const id of memory.looked.keys()) if (!known.has(id)) memory.looked.delete(id)
  }
  for (const canary of memory.promoted) {
    const back = await lookAgain(options, canary)
    if (back) return back
  }
  return null
}

async function lookAgain(
  { store, registry, agent, memory, now }: ReopenOptions,
  canary: Canary,
): Promise<Reopened | null> {
  const before = memory.looked.get(canary.id)
  // Its labels are read after their mark: those that come meanwhile are another look's.
  const pin = await store.releases.pinned(agent)
  const mark = await markOf(store, canary, { pinned: pin !== null, now })
  if (before?.mark === mark) return null
  const receipt = await receiptOf(store, canary)
  const sessions = await sessionsNow(store, canary, receipt, now)
  const seen = contentHash({ audits: JSON.stringify(sessions.map(({ audit }) => audit ?? null)) })
  const stays = (known: string | null) => {
    memory.looked.set(canary.id, { seen: known, mark })
    return null
  }
  if (before?.seen === seen) return stays(seen)
  const { gate, look } = again(receipt, sessions)
  const verdict = gate.look({ ...look, admitted: receipt.admission !== null })
  const changed = differ(receipt.sessions, sessions)
  if (verdict.decision !== 'reject' && (!changed || verdict.decision === 'promote')) return stays(seen)
  const reasons = [...(verdict.decision === 'reject' ? [] : [withdrawn]), ...verdict.reasons]
  if (pin) {
    await tellPinned(store, canary, { pin, reason: reasons[0] ?? '', now })
    return stays(null)
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
  canary: Canary,
  { pinned, now }: { readonly pinned: boolean; readonly now: number },
): Promise<string> {
  return JSON.stringify([await audits.marks(canary.id), pinned, Math.floor(now / readAgainMs)])
}

/** Tells people, once for each pin, that labels speak against what they pinned. */
async function tellPinned(
  { alerts }: Pick<Store, 'alerts'>,
  { id: canary, agent }: Canary,
  { pin, reason, now }: { readonly pin: Pin; readonly reason: string; readonly now: number },
): Promise<void> {
  const id = AlertId.parse(contentHash({ reopen: canary, pinnedAt: pin.at }).slice(0, 16))
  const message = `Labels speak against the release ${pin.release}, which is pinned and stays. ${reason} \`ratchet rollback\` takes it back; after \`ratchet unpin\` it goes back by itself.`
  const evidence = { canary, release: pin.release }
  await tellOnce(alerts, { id, agent, kind: 'audit', name: canary, message, evidence, run: null, at: now })
}
