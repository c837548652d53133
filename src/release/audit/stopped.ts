import { AlertId, type Canary, type CanaryId, contentHash, type Store, tellOnce } from '../../core/index.ts'
import { again, differ, receiptOf, sessionsNow } from './decided.ts'
import { auditOf } from './draw.ts'

/** What looking again at canaries that were rolled back takes. */
export interface StoppedOptions {
  readonly store: Pick<Store, 'alerts' | 'audits' | 'canaries' | 'receipts'>
  readonly agent: string
  readonly memory: StoppedMemory
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** What is remembered of them, so that equal labels are read once. */
export interface StoppedMemory {
  /** When they were looked at last; `null` before that. */
  at: number | null
  readonly marks: Map<CanaryId, string>
}

export const newStoppedMemory = (): StoppedMemory => ({ at: null, marks: new Map() })

/** Canaries that are looked at, the latest, and how often. */
const mostCanaries = 10
const lookEveryMs = 60_000

/**
 * Tells people, once each, of canaries that were rolled back by labels that were changed or taken back since, where what is
 * left shows no harm: a stolen key can also stop what is better. Nobody gets such a candidate by itself; a person tries it
 * again.
 */
export async function tellOfStopped({ store, agent, memory, now }: StoppedOptions): Promise<void> {
  if (memory.at !== null && now - memory.at < lookEveryMs) return
  const latest = await store.canaries.list({ agent, limit: mostCanaries })
  const stopped = latest.filter(
    (canary) => canary.status === 'rolled-back' && canary.receipt !== null && auditOf(canary) !== null,
  )
  for (const canary of stopped) {
    const mark = JSON.stringify(await store.audits.marks(canary.id))
    if (memory.marks.get(canary.id) !== mark) await lookAgain(store, canary, now)
    memory.marks.set(canary.id, mark)
  }
  const known = new Set(stopped.map(({ id }) => id))
  for (const id of memory.marks.keys()) if (!known.has(id)) memory.marks.delete(id)
  memory.at = now
}

async function lookAgain(store: StoppedOptions['store'], canary: Canary, now: number): Promise<void> {
  const { id: name, agent } = canary
  const receipt = await receiptOf(store, canary)
  const sessions = await sessionsNow(store, canary, receipt, now)
  if (receipt.decision !== 'reject' || !differ(receipt.sessions, sessions)) return
  const { gate, look } = again(receipt, sessions)
  if (gate.look({ ...look, admitted: receipt.admission !== null }).decision === 'reject') return
  const id = AlertId.parse(contentHash({ stopped: name }).slice(0, 16))
  const message = `The canary ${name} was rolled back by labels of which some were changed or taken back since, and what is left shows no harm. \`ratchet try ${name}\` tries its candidate again.`
  const evidence = { canary: name }
  await tellOnce(store.alerts, { id, agent, kind: 'audit', name, message, evidence, run: null, at: now })
}
