import {
  type Canary,
  type CanaryId,
  type CanaryReceipt,
  type Clock,
  contentHash,
  type Pin,
  type Release,
  type Store,
  systemClock,
} from '../core/index.ts'
import { RatchetError } from '../errors/index.ts'
import { canaryGate, type CanaryGate, type CanaryLook, type CanaryVerdict } from '../gate/index.ts'
import { type CanaryNote, canaryOf } from './canary-record.ts'
import {
  type CanaryMemory,
  candidateSessions,
  gatherOutcomes,
  type Gathered,
  type Judging,
  newCanaryMemory,
} from './outcomes.ts'
import type { Registry } from './registry.ts'

/** What one look at a canary needs. */
export interface WatchOptions extends Judging {
  readonly store: Pick<Store, 'canaries' | 'releases' | 'signals' | 'trajectories'>
  readonly registry: Registry
  readonly canary: CanaryId
  /**
   * Default: the gate that the canary began with, made anew from what it keeps of it. A gate of another configuration
   * gives the canary up.
   */
  readonly gate?: CanaryGate
  /** What earlier looks found: kept by the caller between looks, so that settled sessions are scored once. */
  readonly memory?: CanaryMemory
  readonly clock?: Clock
}

/** What came of a look. */
export interface Looked {
  /** As it stands now. */
  readonly canary: Canary
  /** What the gate said; `null` where it was not asked: the canary had ended. */
  readonly verdict: CanaryVerdict | null
  /** Sessions that the verdict rests on, and the others. */
  readonly sessions: Gathered['sessions']
  /** The release that it made. */
  readonly release: Release | null
  /** Why the verdict was not carried out; `null` when it was. */
  readonly waits: string | null
}

/**
 * One look at a canary: scores its settled sessions of both arms in the order in which they began, asks the gate, and
 * does what it says: on to the next share, to a release, or back. A canary whose baseline no longer serves goes back
 * unasked, one whose gate was configured anew is given up; while what serves is pinned, it only goes back. One look at a time for a canary; looks of several processes
 * do no harm, as the first one that changes something wins.
 *
 * Sessions that may not be learned from (`train: false`) are left out, though only an outcome would be read of them:
 * who forbids learning means no exception.
 */
export async function watchCanary(options: WatchOptions): Promise<Looked> {
  const { store, registry, clock = systemClock, memory = newCanaryMemory() } = options
  const canary = await canaryOf(store, options.canary)
  const now = clock.now()
  if (canary.status !== 'running') return ended(canary)
  try {
    const { release } = await registry.current(canary.agent)
    if (release.id !== canary.baseline) {
      const reasons = [`release ${release.id} serves instead of its baseline`]
      return ended(await registry.rollBackCanary(canary.id, { reasons, at: now }))
    }
    if (options.gate && contentHash(options.gate.config) !== contentHash(canary.gate.config)) {
      const reasons = ['its gate is configured otherwise now, and what began by some rules is not judged by others']
      return ended(await registry.giveUpCanary(canary.id, { reasons, at: now }))
    }
    return await look(options, { canary, release, memory, now })
  } catch (error) {
    // Somebody else was quicker.
    if (RatchetError.is(error) && hasEnded.has(error.code)) return ended(await canaryOf(store, canary.id))
    throw error
  }
}

const hasEnded: ReadonlySet<string> = new Set(['release/canary-ended', 'store/canary-ended'])

interface Moment {
  readonly canary: Canary
  /** Its baseline. */
  readonly release: Release
  readonly memory: CanaryMemory
  readonly now: number
}

async function look(options: WatchOptions, moment: Moment): Promise<Looked> {
  const { canary, release, memory } = moment
  const { store, rubric, gate = canaryGate(canary.gate.config) } = options
  const { sessions, outcomes, sessionsInStep } = await gatherOutcomes({ ...options, ...moment })
  const input: CanaryLook = {
    sessions: outcomes,
    step: canary.step,
    sessionsInStep,
    rewardRange: [rubric.floor, rubric.ceiling],
  }
  const verdict = gate.look(input)
  const pin = await store.releases.pinned(canary.agent)
  const { unsettled, withheld } = sessions
  const seen: Seen = {
    verdict,
    sessions,
    waits: waitsFor(verdict, pin),
    note: { reasons: verdict.reasons, evidence: { ...verdict.evidence, unsettled, withheld } },
    exposed: () => candidateSessions(store, canary, memory),
    makeReceipt: () => {
      const { agent, candidate, admission } = canary
      return gate.makeReceipt({
        ...input,
        agent,
        baseline: release.versions,
        candidate,
        canary: canary.id,
        admission,
      })
    },
  }
  return { verdict, sessions, waits: seen.waits, release: null, canary, ...(await carryOut(options, moment, seen)) }
}

/** What was seen, and what may come of it. */
interface Seen extends Pick<Looked, 'sessions' | 'waits'> {
  readonly verdict: CanaryVerdict
  readonly note: CanaryNote
  readonly exposed: () => Promise<number>
  readonly makeReceipt: () => CanaryReceipt
}

async function carryOut(
  { registry }: WatchOptions,
  { canary, memory, now }: Moment,
  { verdict, sessions, waits, note, exposed, makeReceipt }: Seen,
): Promise<Partial<Pick<Looked, 'canary' | 'release'>>> {
  const stop = async () => ({ ...note, receipt: makeReceipt(), exposed: await exposed(), at: now })
  if (verdict.action === 'roll-back') return { canary: await registry.rollBackCanary(canary.id, await stop()) }
  if (verdict.action === 'give-up') return { canary: await registry.giveUpCanary(canary.id, await stop()) }
  if (waits === null && verdict.action === 'advance') {
    return { canary: await registry.advanceCanary(canary, note, now) }
  }
  if (waits === null && verdict.action === 'promote') {
    const promoted = await registry.promoteCanary(makeReceipt(), now)
    return { release: promoted.release, canary: promoted.canary }
  }
  if (isNews(memory, canary, sessions, waits)) {
    const reasons = waits === null ? note.reasons : [waits, ...note.reasons]
    await registry.holdCanary(canary.id, { ...note, reasons }, now)
  }
  return {}
}

function waitsFor({ action }: CanaryVerdict, pin: Pin | null): string | null {
  return pin && (action === 'advance' || action === 'promote') ? `What serves is pinned: ${pin.reason}.` : null
}

const nobody = { baseline: 0, candidate: 0, unsettled: 0, withheld: 0 }

function ended(canary: Canary): Looked {
  return { canary, verdict: null, sessions: nobody, release: null, waits: null }
}

/** How much the evidence has to grow until a look that changes nothing is worth a line in the story. */
const growth = 1.5

/** Whether a look that held is to be noted: the first of a step, and then ever more rarely. */
function isNews(
  memory: CanaryMemory,
  { step }: Canary,
  { baseline, candidate }: Gathered['sessions'],
  waits: string | null,
): boolean {
  const { noted } = memory
  const sessions = baseline + candidate
  const news = noted === null || noted.step !== step || noted.waits !== waits || sessions >= noted.sessions * growth
  if (news) memory.noted = { step, sessions: Math.max(1, sessions), waits }
  return news
}
