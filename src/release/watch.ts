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
import {
  EARLIER_RULES,
  canaryGate,
  type CanaryGate,
  CanaryLevel,
  type CanaryLook,
  type CanaryVerdict,
} from '../gate/index.ts'
import { changesBeside, staleReason } from './beside.ts'
import { type CanaryNote, canaryOf, defaultWatchMs, watchedUntil } from './canary-record.ts'
import { gapsOf } from './gaps.ts'
import type { Gap, Judging } from './judge-session.ts'
import {
  type CanaryMemory,
  candidateSessions,
  gatherOutcomes,
  type Gathered,
  newCanaryMemory,
  withKeptNames,
} from './outcomes.ts'
import { type Standing, standingOf } from './patch.ts'
import type { Registry } from './registry.ts'

/** What one look at a canary needs. */
export interface WatchOptions extends Judging {
  readonly store: Pick<Store, 'audits' | 'canaries' | 'releases' | 'signals' | 'trajectories'>
  readonly registry: Registry
  readonly canary: CanaryId
  /**
   * Default: the gate that the canary began with, made anew from what it keeps of it. A gate of another configuration
   * gives the canary up.
   */
  readonly gate?: CanaryGate
  /** Changes what the gate that judges says; default: it decides. */
  readonly through?: (gate: CanaryGate) => CanaryGate
  /** What earlier looks read: kept by the caller between looks, so that it is read once. Of one look at a time. */
  readonly memory?: CanaryMemory
  /**
   * How long this look lets the canary go on serving, in milliseconds: some looks' worth. Past it gateways serve everybody
   * what it is tried beside, until somebody looks again. Default 30 s.
   */
  readonly watchedForMs?: number
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
 * One look at a canary: judges those of its sessions that have become due, for good, asks the gate about all that were
 * judged, and does what it says: on to the next share, to a release, or back. One whose own Parameters serve otherwise than when
 * it began goes back unasked, one whose gate or judging was configured anew is given up; while what serves is pinned, it only goes back. One look at a
 * time for a canary; looks of several processes do no harm, as the first one that changes something wins. A look that came
 * to its end keeps the canary serving for a while: one that fails does not.
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
    const standing = await standingOf(store, canary, release)
    if (standing.stale.length > 0) {
      const reasons = [staleReason(release, standing.stale)]
      return ended(await registry.rollBackCanary(canary.id, { reasons, at: now }))
    }
    const { level, ...rules } = canary.gate.config
    const began = canaryGate({ ...EARLIER_RULES, ...rules })
    if (options.gate && !isByTheseRules(options.gate, began, rules)) {
      const reasons = ['its gate is configured otherwise now, and what began by some rules is not judged by others']
      return ended(await registry.endCanary(canary.id, { reasons, at: now }))
    }
    const watchedUntilThen = Math.max(await watchedUntil(store, canary), canary.startedAt)
    const gaps = await gapsOf(store, canary, { from: watchedUntilThen, until: now })
    const own = level === undefined ? {} : { level: CanaryLevel.parse(level) }
    const { gate = began, through = (same) => same } = options
    const judging = through(isAsConfigured(gate, began) ? gate : began)
    const looked = await look({ ...options, gate: judging }, { canary, release, standing, memory, gaps, now, ...own })
    const forMs = options.watchedForMs ?? defaultWatchMs
    // Judging takes a while, and gateways did not wait for it.
    const at = clock.now()
    // Looks may come several times a second: what was said lately is not said again.
    if (looked.canary.status === 'running' && watchedUntilThen - at <= (2 / 3) * forMs) {
      await registry.keepWatched(canary.id, { at, forMs })
    }
    return looked
  } catch (error) {
    // What serves changed while its sessions were judged: the receipt is to say so.
    if (RatchetError.is(error) && error.code === 'release/stale-receipt') return watchCanary({ ...options, memory })
    // Somebody else was quicker.
    if (RatchetError.is(error) && hasEnded.has(error.code)) return ended(await canaryOf(store, canary.id))
    throw error
  }
}

/**
 * Whether a canary is judged by the rules of this gate. One that began before persons had arms goes on by its own, where
 * rules that came with them, or whose defaults changed then, are all that differs; and one that says nothing of tails.
 */
function isByTheseRules(gate: CanaryGate, began: CanaryGate, kept: Canary['gate']['config']): boolean {
  const unsaid = 'tails' in kept ? [] : ['tails']
  return isAsConfigured(gate, began, new Set([...unsaid, ...('people' in kept ? [] : sincePeople)]))
}

function isAsConfigured(gate: CanaryGate, other: CanaryGate, but: ReadonlySet<string> = new Set()): boolean {
  const [one, two] = [gate, other].map(({ config }) =>
    contentHash(Object.fromEntries(Object.entries(config).filter(([key]) => !but.has(key)))),
  )
  return one === two
}

const sincePeople: ReadonlySet<string> = new Set(['people', 'excess', 'goodhart', 'guards', 'missingTolerance'])

const hasEnded: ReadonlySet<string> = new Set(['release/canary-ended', 'store/canary-ended'])

interface Moment {
  readonly canary: Canary
  /** What serves beside it. */
  readonly release: Release
  readonly standing: Standing
  readonly memory: CanaryMemory
  readonly gaps: readonly Gap[]
  readonly now: number
  /** What the candidate may spend, where the agent's life is bounded. */
  readonly level?: CanaryLevel
}

async function look(options: WatchOptions & { readonly gate: CanaryGate }, moment: Moment): Promise<Looked> {
  const { canary, release, standing, memory, level } = moment
  const { store, rubric, gate, clock = systemClock } = options
  const gathered = await gatherOutcomes({ ...options, ...moment })
  if (!gathered) {
    const reasons = ['its sessions are judged otherwise now, and what began by some rules is not judged by others']
    return ended(await options.registry.endCanary(canary.id, { reasons, at: clock.now() }))
  }
  const { sessions, outcomes, sessionsInStep, repeatsInStep } = gathered
  const input: CanaryLook = {
    sessions: outcomes,
    step: canary.step,
    sessionsInStep,
    repeatsInStep,
    rewardRange: [rubric.floor, rubric.ceiling],
    admitted: canary.admission !== null,
    ...(level && { level }),
  }
  const verdict = gate.look(input)
  const pin = await store.releases.pinned(canary.agent)
  const { baseline: _, candidate: __, ...others } = sessions
  const seen: Seen = {
    verdict,
    sessions,
    waits: waitsFor(verdict, pin),
    note: { reasons: verdict.reasons, evidence: { ...verdict.evidence, ...others } },
    exposed: () => candidateSessions(store, canary, memory),
    makeReceipt: async () => {
      const { agent, admission } = canary
      return gate.makeReceipt({
        ...input,
        sessions: await withKeptNames(store, canary, outcomes),
        agent,
        baseline: release.versions,
        candidate: standing.candidate,
        canary: canary.id,
        admission,
        changes: await changesBeside(store, canary),
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
  readonly makeReceipt: () => Promise<CanaryReceipt>
}

async function carryOut(
  { registry, clock = systemClock }: WatchOptions,
  { canary, memory }: Moment,
  { verdict, sessions, waits, note, exposed, makeReceipt }: Seen,
): Promise<Partial<Pick<Looked, 'canary' | 'release'>>> {
  // Judging took a while: a step begins, and a canary ends, only now. Sessions that began meanwhile are the old step's.
  const stop = async () => ({ ...note, receipt: await makeReceipt(), exposed: await exposed(), at: clock.now() })
  if (verdict.action === 'roll-back') return { canary: await registry.rollBackCanary(canary.id, await stop()) }
  if (verdict.action === 'end') return { canary: await registry.endCanary(canary.id, await stop()) }
  if (waits === null && verdict.action === 'advance') {
    return { canary: await registry.advanceCanary(canary, note, clock.now()) }
  }
  if (waits === null && verdict.action === 'promote') {
    const promoted = await registry.promoteCanary(await makeReceipt(), clock.now())
    return { release: promoted.release, canary: promoted.canary }
  }
  if (isNews(memory, canary, sessions, waits)) {
    const reasons = waits === null ? note.reasons : [waits, ...note.reasons]
    await registry.holdCanary(canary.id, { ...note, reasons }, clock.now())
  }
  return {}
}

function waitsFor({ action }: CanaryVerdict, pin: Pin | null): string | null {
  return pin && (action === 'advance' || action === 'promote') ? `What serves is pinned: ${pin.reason}.` : null
}

const nobody = { baseline: 0, candidate: 0, underWay: 0, withheld: 0, unwatched: 0, overShare: 0 }

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
