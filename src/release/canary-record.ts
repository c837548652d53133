import {
  type Alert,
  AlertId,
  Audit,
  type Canary,
  type CanaryEvent,
  canonicalJson,
  type CanaryId,
  type CanaryReceipt,
  contentHash,
  type Json,
  type Repositories,
  type VersionSet,
} from '../core/index.ts'
import { CanaryEndedError, OtherCanaryError, UnknownCanaryError } from './canary-errors.ts'

/** Why a canary stands where it stands, for its story. */
export interface CanaryNote {
  /** One sentence each, the deciding one first. */
  readonly reasons: readonly string[]
  /** What the tests said, for people. */
  readonly evidence?: Readonly<Record<string, Json>>
}

type Canaries = Pick<Repositories, 'canaries'>

/** The canary of an agent that runs, or `null`. */
export async function runningCanary({ canaries }: Canaries, agent: string): Promise<Canary | null> {
  return (await canaries.running()).find((canary) => canary.agent === agent) ?? null
}

/** @throws UnknownCanaryError */
export async function canaryOf({ canaries }: Canaries, id: CanaryId): Promise<Canary> {
  const canary = await canaries.get(id)
  if (!canary) throw new UnknownCanaryError(id)
  return canary
}

/** @throws UnknownCanaryError | CanaryEndedError */
export async function stillRunning(tx: Canaries, id: CanaryId): Promise<Canary> {
  const canary = await canaryOf(tx, id)
  if (canary.status !== 'running') throw new CanaryEndedError(canary)
  return canary
}

/** The share of sessions that get the candidate of a canary that runs. */
export function shareOf({ shares, step }: Pick<Canary, 'shares' | 'step'>): number {
  return shares[step] ?? 0
}

/** How long a look lets a canary go on serving, in milliseconds, where nobody says otherwise; also from its start on. */
export const defaultWatchMs = 30_000

/** Until when a canary that runs is watched, in milliseconds since the epoch. */
export async function watchedUntil({ canaries }: Canaries, { id }: Pick<Canary, 'id'>): Promise<number> {
  return (await canaries.watched()).find(({ canary }) => canary === id)?.until ?? 0
}

/**
 * Lets a canary serve until `at` + `forMs`. One that was not watched meanwhile gets a line in its story: who began with the
 * candidate had the baseline for a while.
 */
export async function keepWatched(
  tx: Canaries,
  id: CanaryId,
  { at, forMs }: { readonly at: number; readonly forMs: number },
): Promise<void> {
  const canary = await stillRunning(tx, id)
  const from = Math.max(await watchedUntil(tx, canary), canary.startedAt)
  // Before the story, as whoever ends it does: so neither waits for the other.
  await tx.canaries.watch(id, at + forMs)
  if (from >= at) return
  const [since, until] = [from, at].map((time) => new Date(time).toISOString())
  const reasons = [`Nobody looked at it from ${since} to ${until}: everybody got the baseline.`]
  await appendEvent(tx, canary, 'unwatched', { reasons, evidence: { from, until: at } }, at)
}

/** A share of sessions for people, as in `0.5 %`. */
export const percentOf = (share: number): string => `${Number((100 * share).toPrecision(3))} %`

/** Writes the canary as it is now, with the event that made it so. */
export async function writeCanary(
  tx: Canaries,
  canary: Canary,
  type: CanaryEvent['type'],
  { reasons, evidence = {} }: CanaryNote,
  at: number,
): Promise<Canary> {
  await tx.canaries.put(canary)
  await appendEvent(tx, canary, type, { reasons, evidence }, at)
  return canary
}

/** Adds to a canary's story without changing it. */
export async function appendEvent(
  { canaries }: Canaries,
  canary: Canary,
  type: CanaryEvent['type'],
  { reasons, evidence = {} }: CanaryNote,
  at: number,
): Promise<void> {
  const { length } = await canaries.events(canary.id)
  const share = type === 'promoted' ? 1 : canary.status === 'running' ? shareOf(canary) : 0
  await canaries.appendEvent({
    canary: canary.id,
    sequence: length,
    type,
    share,
    reasons: [...reasons],
    evidence: { ...evidence },
    at,
  })
}

/** How a canary ends without its candidate becoming a release. */
export interface CanaryEnd extends CanaryNote {
  readonly status: 'rolled-back' | 'ended'
  /** What shows it; `null` when it was stopped by hand. */
  readonly receipt: CanaryReceipt | null
  /** Sessions that had the candidate; `null` when nobody counted. */
  readonly exposed: number | null
  readonly at: number
}

/** Ends a canary: from here on nobody gets its candidate. One that goes back is told of by an Alert. */
export async function endCanary(
  tx: Pick<Repositories, 'alerts' | 'canaries' | 'receipts'>,
  canary: Canary,
  { status, receipt, reasons, evidence = {}, exposed, at }: CanaryEnd,
): Promise<Canary> {
  if (receipt) await tx.receipts.put(receipt)
  const reason = reasons[0] ?? 'stopped by hand'
  const ended: Canary = { ...canary, status, receipt: receipt?.id ?? null, reason, endedAt: at }
  const counted = exposed === null ? evidence : { ...evidence, exposed }
  await writeCanary(tx, ended, status, { reasons, evidence: counted }, at)
  if (status === 'rolled-back') await tx.alerts.put(rollbackAlert(ended, { reason, exposed, at }))
  return ended
}

function rollbackAlert(
  { id, agent, step, candidate }: Canary,
  { reason, exposed, at }: { readonly reason: string; readonly exposed: number | null; readonly at: number },
): Alert {
  const after = exposed === null ? '' : ` after ${exposed} ${exposed === 1 ? 'session' : 'sessions'} had it`
  return {
    id: AlertId.parse(contentHash({ rollback: id }).slice(0, 16)),
    agent,
    kind: 'rollback',
    name: id,
    message: `The canary ${id} was rolled back${after}: ${reason}`,
    evidence: { canary: id, candidate, step, exposed },
    run: null,
    at,
  }
}

/**
 * Holds that a receipt is about this canary: what it tries, its admission, the rules that it began with, and the step in
 * force. Rules may say more than they said then (the range of rewards), never otherwise.
 * @param patch what it tries.
 * @throws OtherCanaryError
 */
export function assertOfCanary(canary: Canary, patch: VersionSet, receipt: CanaryReceipt): void {
  const problem = mismatch(canary, patch, receipt)
  if (problem !== null) throw new OtherCanaryError(receipt.id, canary.id, problem)
}

function mismatch(canary: Canary, patch: VersionSet, receipt: CanaryReceipt): string | null {
  if (receipt.canary !== canary.id) return `it is of canary ${receipt.canary}`
  if (receipt.agent !== canary.agent) return `it is of the agent "${receipt.agent}"`
  const other = Object.keys(patch).filter((parameter) => receipt.candidate[parameter] !== patch[parameter])
  if (other.length > 0) return `its candidate has another version of ${other.join(', ')}`
  if (receipt.admission !== canary.admission) return 'it names another admission'
  if (receipt.gate.name !== canary.gate.name) return `it is of the gate "${receipt.gate.name}"`
  for (const [key, value] of Object.entries({ ...canary.gate.config, step: canary.step })) {
    const said = receipt.gate.config[key]
    if (said === undefined || !isSame(key, said, value)) return `it was decided with another ${key}`
  }
  return null
}

/** An audit that was kept before it could have a judge is the same as one that has none. */
function isSame(key: string, said: Json, kept: Json): boolean {
  const audits = key === 'audit' ? [Audit.safeParse(said), Audit.safeParse(kept)] : []
  const [a, b] = audits.map(({ data }) => data)
  return canonicalJson(a ?? said) === canonicalJson(b ?? kept)
}
