import {
  type Canary,
  type CanaryOutcome,
  contentHash,
  type JudgedSession,
  type Repositories,
  sha256,
  type UnjudgedSession,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import { ReporterShares } from '../reward/index.ts'
import { auditOf, drawFor } from './audit/draw.ts'
import { DrawsRead } from './audit/draws-read.ts'
import { auditOutcome, countWaiting, type KnownTruths, knownTruths, nothingKnown } from './audit/known-truths.ts'
import { dueSession, type Gap, judgeSession, type Judging } from './judge-session.ts'
import { PeopleSeen, trustOf } from './people.ts'

/**
 * What looks at one canary have read of it: of one look at a time. Lost with its process, and then read again: the store
 * has it all.
 */
export interface CanaryMemory {
  /** In their order. */
  readonly judged: JudgedSession[]
  /** `null` until something was read. */
  shares: ReporterShares | null
  /** Who had which arm; `null` until something was read, and where each session is drawn. */
  people: PeopleSeen | null
  /** When sessions were looked for that were recorded very late; `null` before that. */
  soughtAt: number | null
  readonly draws: DrawsRead
  /** The last look that held and was noted. */
  noted: { readonly step: number; readonly sessions: number; readonly waits: string | null } | null
}

export function newCanaryMemory(): CanaryMemory {
  return { judged: [], shares: null, people: null, soughtAt: null, draws: new DrawsRead(), noted: null }
}

/** Sessions of a canary: what is evidence, by arm, and what is not. */
export interface SessionCounts {
  readonly baseline: number
  readonly candidate: number
  /** May not be learned from. */
  readonly withheld: number
  /** Under way while nobody looked at the canary. */
  readonly unwatched: number
  /** Of reporters that had decided as many as one may. */
  readonly overShare: number
}

/** What the judged sessions of a canary showed. */
export interface Gathered {
  /** In the order in which they were judged. */
  readonly outcomes: readonly CanaryOutcome[]
  /** Judged candidate sessions that began in the step in force, and whose arm was drawn: of a person, the first. */
  readonly sessionsInStep: number
  /** And the others. */
  readonly repeatsInStep: number
  readonly sessions: SessionCounts & {
    /** May be learned from, and are not due yet. */
    readonly underWay: number
  }
}

/** Sessions that are judged by one write, and read by one look-up of the store. */
const judgedAtOnce = 500
const readAtOnce = 16
/** A session is in the store from the end of its first call on: so much later than it began, each look finds it. */
const lateMs = 3_600_000
/** One that was recorded later still is found among all of the canary's, which are looked through so often. */
const seekEveryMs = 600_000

interface GatherOptions extends Judging {
  readonly canary: Canary
  readonly memory: CanaryMemory
  readonly gaps: readonly Gap[]
  readonly now: number
}

/**
 * Judges the sessions of a canary that have become due, each once and for good, and tells what all showed.
 * @returns `null` where some were judged by other rules: another rubric, another time, other limits of reporters.
 * @throws StoreError when the canary runs no more.
 */
export async function gatherOutcomes(options: GatherOptions): Promise<Gathered | null> {
  const { store, canary, memory, judgeAfterMs, now } = options
  const rules = rulesOf(options)
  const seeks = memory.soughtAt === null || now - memory.soughtAt >= seekEveryMs
  for (;;) {
    await catchUp(options)
    if (memory.judged.some((session) => session.rules !== rules)) return null
    const due = await store.canaries.unjudged(canary.id, {
      since: seeks ? canary.startedAt - lateMs : sinceOf(canary, memory),
      until: now - judgeAfterMs,
      limit: judgedAtOnce,
    })
    if (due.length === 0) break
    if (!(await judgeAndKeep(options, due, rules))) break
  }
  if (seeks) memory.soughtAt = now
  const recent = { since: now - judgeAfterMs, until: now, train: true } as const
  const underWay = await store.canaries.countUnjudged(canary.id, recent)
  const { judged } = memory
  const ofStep = judged.filter((one) => isEvidenceOf('candidate', one) && one.began >= canary.stepAt)
  const drawn = ofStep.filter(({ propensity }) => propensity < 1).length
  return {
    outcomes: evidenceOf(judged, await truthsOf(store, canary, { now, read: memory.draws })),
    sessionsInStep: drawn,
    repeatsInStep: ofStep.length - drawn,
    sessions: { ...countsOf(judged), underWay },
  }
}

/** What a look saw, with what was erased meanwhile named no more; what was said since is another look's. */
export async function withKeptNames(
  store: Pick<Repositories, 'canaries'>,
  canary: Canary,
  outcomes: readonly CanaryOutcome[],
): Promise<readonly CanaryOutcome[]> {
  const kept = (await keptSessions(store, canary)).filter(({ leftOut }) => leftOut === null)
  // In their order, which only grows at its end.
  return outcomes.map((outcome, i) => ({ ...outcome, trajectory: present(kept[i], 'a judged session').trajectory }))
}

/** Sessions that were judged, as they are kept now: what was erased meanwhile is named no more. */
export async function keptOutcomes(store: Pick<Repositories, 'audits' | 'canaries'>, canary: Canary, now: number) {
  return evidenceOf(await keptSessions(store, canary), await truthsOf(store, canary, { now }))
}

/** The same, and the rubric that paid their signals, which is one, as a canary is judged by one; `null` where none were kept. */
export async function keptPaid(
  store: Pick<Repositories, 'audits' | 'canaries'>,
  canary: Canary,
  now: number,
): Promise<{ readonly rubric: string | null; readonly outcomes: readonly CanaryOutcome[] }> {
  const kept = await keptSessions(store, canary)
  const rubric = kept.find(({ paidBy }) => paidBy !== undefined)?.paidBy ?? null
  return { rubric, outcomes: evidenceOf(kept, await truthsOf(store, canary, { now })) }
}

/** What is true of the sessions that were drawn for the audit; empty where there is none. */
async function truthsOf(
  store: Pick<Repositories, 'audits'>,
  canary: Canary,
  { now, read = new DrawsRead() }: { readonly now: number; readonly read?: DrawsRead },
): Promise<KnownTruths> {
  const audit = auditOf(canary)
  if (audit === null) return nothingKnown
  const draws = await read.all(store, canary.id)
  return knownTruths(draws, audit, { now, endedAt: canary.endedAt })
}

/** What is evidence of a canary, what was left out, and what may be learned from and nobody has judged. */
export async function countSessions(
  store: Pick<Repositories, 'canaries'>,
  canary: Pick<Canary, 'id'>,
): Promise<SessionCounts & { readonly unjudged: number }> {
  const counts = countsOf(await keptSessions(store, canary))
  const all = { since: 0, until: Number.MAX_SAFE_INTEGER, train: true } as const
  return { ...counts, unjudged: await store.canaries.countUnjudged(canary.id, all) }
}

/** Counts every session that got the candidate, judged or not, evidence or not: a rollback waits for it. */
export async function candidateSessions(
  { canaries }: Pick<Repositories, 'canaries'>,
  canary: Canary,
  { judged }: CanaryMemory,
): Promise<number> {
  const which = { since: sinceOf(canary, { judged }), until: Number.MAX_SAFE_INTEGER, arm: 'candidate' } as const
  return judged.filter(({ arm }) => arm === 'candidate').length + (await canaries.countUnjudged(canary.id, which))
}

/** What sessions are judged by; guards' metrics have no name of their own. */
function rulesOf({ rubric, judgeAfterMs, reporters }: Judging): string {
  return contentHash({ rubric: rubric.hash, judgeAfterMs, reporters: JSON.stringify(reporters ?? null) }).slice(0, 16)
}

function sinceOf({ startedAt }: Canary, { judged }: Pick<CanaryMemory, 'judged'>): number {
  return judged.reduce((latest, { began }) => Math.max(latest, began), startedAt) - lateMs
}

function forget(memory: CanaryMemory): void {
  memory.judged.length = 0
  memory.shares = null
  memory.people = null
}

/** Reads what others have judged since. */
async function catchUp(options: GatherOptions): Promise<void> {
  const { store, canary, memory, reporters } = options
  const before = memory.judged.length
  await readJudged(store, canary, memory.judged)
  const trust = trustOf(canary)
  if (trust) {
    const from = memory.people ? before : 0
    memory.people ??= new PeopleSeen(trust, canary.salt)
    for (const { leftOut, reporters: deciders, arm, propensity } of memory.judged.slice(from)) {
      if (leftOut === null) memory.people.resume(deciders, arm, propensity)
    }
  }
  if (!reporters) return
  const known = memory.shares
  memory.shares ??= new ReporterShares(reporters, (name) => sha256(JSON.stringify([canary.salt, name])).slice(0, 16))
  for (const { leftOut, reporters: deciders } of memory.judged.slice(known ? before : 0)) {
    if (leftOut === null) memory.shares.resume(deciders)
  }
}

async function keptSessions(store: Pick<Repositories, 'canaries'>, canary: Pick<Canary, 'id'>) {
  const judged: JudgedSession[] = []
  await readJudged(store, canary, judged)
  return judged
}

/** Reads on where the sessions that are known end. */
async function readJudged(
  { canaries }: Pick<Repositories, 'canaries'>,
  { id }: Pick<Canary, 'id'>,
  judged: JudgedSession[],
): Promise<void> {
  for (let more = true; more; ) {
    const page = await canaries.judged(id, { from: judged.length, limit: judgedAtOnce })
    judged.push(...page)
    more = page.length === judgedAtOnce
  }
}

/** @returns whether there may be more. */
async function judgeAndKeep(options: GatherOptions, due: readonly UnjudgedSession[], rules: string): Promise<boolean> {
  const { store, canary, memory } = options
  let kept = false
  try {
    const judged = await judgeAll(options, due, rules)
    if (judged.length === 0) return false
    kept = await store.canaries.appendJudged(canary.id, judged)
    if (kept) memory.judged.push(...judged)
    return true
  } finally {
    // Somebody was quicker, whose judgements count; or the store failed: what is in memory is of no use.
    if (!kept) forget(memory)
  }
}

async function judgeAll(
  options: GatherOptions,
  due: readonly UnjudgedSession[],
  rules: string,
): Promise<readonly JudgedSession[]> {
  const { canary, gaps, memory } = options
  const judged: JudgedSession[] = []
  const audit = auditOf(canary)
  const waiting = { ...countWaiting(await truthsOf(options.store, canary, { now: options.now, read: memory.draws })) }
  for (let start = 0; start < due.length; start += readAtOnce) {
    const some = due.slice(start, start + readAtOnce)
    const read = await Promise.all(some.map((session) => dueSession(options, canary, session)))
    // One after the other: what a reporter may decide depends on what came before.
    for (const one of read) {
      if (!one) continue
      const { shares, people } = memory
      const sequence = memory.judged.length + judged.length
      const session = await judgeSession(options, one, { shares, people, gaps })
      const propensity = session.arm === 'candidate' ? session.propensity : 1 - session.propensity
      const drawn =
        audit === null || session.leftOut !== null
          ? null
          : drawFor(canary, audit, session.trajectory, { propensity, waiting })
      if (drawn?.draw) waiting.truths++
      if (drawn?.judge?.draw) waiting.words++
      judged.push({ ...session, audit: drawn, sequence, began: one.began, rules })
    }
  }
  return judged
}

function isEvidenceOf(arm: JudgedSession['arm'], session: JudgedSession): boolean {
  return session.arm === arm && session.leftOut === null
}

function evidenceOf(judged: readonly JudgedSession[], truths: KnownTruths): readonly CanaryOutcome[] {
  return judged
    .filter(({ leftOut }) => leftOut === null)
    .map((session) => {
      const { trajectory, arm, propensity, reward, guards, signals } = session
      const seen = { trajectory, arm, propensity, reward, guards, ...(signals && { signals }) }
      return { ...seen, ...auditOutcome(session, truths) }
    })
}

function countsOf(judged: readonly JudgedSession[]): SessionCounts {
  const count = (counts: (session: JudgedSession) => boolean) => judged.filter(counts).length
  return {
    baseline: count((one) => isEvidenceOf('baseline', one)),
    candidate: count((one) => isEvidenceOf('candidate', one)),
    withheld: count(({ leftOut }) => leftOut === 'forbidden'),
    unwatched: count(({ leftOut }) => leftOut === 'unwatched'),
    overShare: count(({ leftOut }) => leftOut === 'over-share'),
  }
}
