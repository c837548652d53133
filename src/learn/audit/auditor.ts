import type { Audit, AuditDraw, Canary, CanaryId, Clock, Signal, Store, Tenant } from '../../core/index.ts'
import { hasJudgeBeside, judgeWordOf, truthOf } from '../../gate/index.ts'
import { asksForTruth, auditOf, DrawsRead } from '../../release/index.ts'
import { usualVerifierLimits, type VerifierLimits } from './ask-verifier.ts'
import { asking, label } from './asking.ts'
import { tellOfAudit } from './tell.ts'
import { tellOfJudge, tellOfJudgeAlone } from './tell-judge.ts'
import type { AuditVerifier } from './verifier.ts'

/** What judging draws takes. */
export interface AuditorParts {
  readonly store: Pick<Store, 'alerts' | 'audits' | 'signals' | 'trajectories'>
  readonly tenant: Tenant
  readonly audit: Audit
  /** Needed by `verifier`, and asked by nothing else. */
  readonly verifier?: AuditVerifier
  /** Says what it thinks of sessions, where the audit has a judge. */
  readonly judge?: AuditVerifier
  readonly limits?: Partial<VerifierLimits>
  readonly clock: Clock
  /** Told of what a verifier or a judge throws. */
  readonly onProblem?: (error: unknown) => void
}

/** Has the draws of canaries judged by programs, and tells people when no truth comes. */
export interface Auditor {
  /**
   * Labels what can be labelled now, and has a verifier begin on more: it is not waited for.
   * @throws StoreError
   */
  look(canary: Canary): Promise<void>
  /**
   * The same for canaries that have ended, whose draws may still wait for their truth: each until none does, or until nobody
   * will tell it any more. People are asked by nobody, and their labels count whenever they come.
   * @throws StoreError
   */
  lookAtEnded(canaries: readonly Canary[]): Promise<void>
  /** Resolves when no verifier is at work. */
  idle(): Promise<void>
}

/** Who says what outcomes say. */
const OUTCOME = 'outcome'

/** Makes what has draws judged; where people judge it only watches over the queue. */
export function auditor(parts: AuditorParts): Auditor {
  const { store, audit, clock, verifier, judge } = parts
  const asked = { ...parts, patienceMs: audit.patienceMs, limits: { ...usualVerifierLimits, ...parts.limits } }
  const verifying = verifier && asking(asked, 'verifier', verifier)
  const judging = judge && asking(asked, 'judge', judge)
  const read = new DrawsRead()
  const ended = new Map<CanaryId, DrawsRead | 'over'>()
  const begin = async (waiting: readonly AuditDraw[], own: Audit) => {
    if (own.by === 'outcome') await fromOutcomes(parts, own, waiting)
    if (own.by === 'verifier') verifying?.begin(waiting)
    if (own.by === 'judge') judging?.begin(waiting)
  }
  return {
    async look(canary) {
      const judged = await read.all(store, canary.id)
      const draws = judged.filter(asksForTruth)
      await begin(waitingIn(draws, audit, clock.now()), audit)
      const until = { ...audit, endedAt: canary.endedAt }
      if (hasJudgeBeside(audit)) {
        judging?.begin(judged.filter((draw) => !judgeWordOf(draw, until, clock.now()).settled))
      }
      await tellOfAudit(store, canary, { audit, draws, now: clock.now() })
      await tellOfJudgeAlone(store, canary, { audit, now: clock.now() })
      // Where there is none at all, nothing else will tell of it.
      const couldAnswer = judging?.isSilent() ?? true
      await tellOfJudge(store, canary, { audit, judged, couldAnswer, now: clock.now() })
    },
    async lookAtEnded(canaries) {
      const known = new Set(canaries.map(({ id }) => id))
      for (const id of ended.keys()) if (!known.has(id)) ended.delete(id)
      for (const canary of canaries) {
        // By the rules that it began with.
        const own = auditOf(canary)
        const reading = ended.get(canary.id) ?? new DrawsRead()
        if (own === null || own.by === 'person' || reading === 'over') continue
        const now = clock.now()
        const draws = (await reading.all(store, canary.id)).filter(asksForTruth)
        const waiting = waitingIn(draws, own, now)
        const isOver = waiting.length === 0 || now >= expiryOf(canary, own)
        ended.set(canary.id, isOver ? 'over' : reading)
        if (!isOver) await begin(waiting, own)
        await tellOfAudit(store, canary, { audit: own, draws, now })
      }
    },
    async idle() {
      await verifying?.idle()
      await judging?.idle()
    },
  }
}

const waitingIn = (draws: readonly AuditDraw[], audit: Audit, now: number) =>
  draws.filter((draw) => !truthOf(draw, audit, now).settled)

/**
 * Until when what still waits of an ended canary is asked for: all outcomes have had their time by then, and a program that
 * was out has been told of and tried again.
 */
function expiryOf({ endedAt }: Canary, { patienceMs, outcome }: Audit): number {
  return (endedAt ?? 0) + 2 * patienceMs + (outcome?.withinMs ?? 0)
}

/** Reads what became of sessions, once and for all, when their time is over: the same for both arms. */
async function fromOutcomes(parts: AuditorParts, { outcome }: Audit, waiting: readonly AuditDraw[]): Promise<void> {
  const { store, tenant, clock } = parts
  if (!outcome) return
  for (const draw of waiting) {
    const due = draw.at + outcome.withinMs
    if (clock.now() < due) continue
    const signals = await store.signals.of(draw.trajectory, tenant, due)
    const truth = outcomeOf(signals, outcome)
    await label(parts, draw, {
      by: 'outcome',
      reviewer: OUTCOME,
      truth,
      note: truth === null ? 'nothing came in time' : '',
    })
  }
}

/** The last word of a key that may say it; `null` where there is none, or it is no truth. */
function outcomeOf(signals: readonly Signal[], { signal: name, from }: NonNullable<Audit['outcome']>): number | null {
  const trusted = new Set<string>(from)
  const told = signals
    .filter((one) => one.name === name && one.source === 'outcome' && trusted.has(keyOf(one.reporter)))
    .toSorted((a, b) => a.at - b.at)
  const value = told.at(-1)?.value
  const truth = typeof value === 'boolean' ? Number(value) : value
  return typeof truth === 'number' && truth >= 0 && truth <= 1 ? truth : null
}

const keyOf = (reporter: string) => reporter.split(':', 1)[0] ?? reporter
