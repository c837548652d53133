import type { Audit, AuditDraw, AuditLabel, Canary, Clock, Signal, Store, Tenant } from '../../core/index.ts'
import { ClientName } from '../../core/index.ts'
import { truthOf } from '../../gate/index.ts'
import { askVerifier, usualVerifierLimits, type VerifierLimits } from './ask-verifier.ts'
import { tellOfAudit } from './tell.ts'
import type { AuditVerifier } from './verifier.ts'

/** What judging draws takes. */
export interface AuditorParts {
  readonly store: Pick<Store, 'alerts' | 'audits' | 'signals' | 'trajectories'>
  readonly tenant: Tenant
  readonly audit: Audit
  /** Needed by `verifier`, and asked by nothing else. */
  readonly verifier?: AuditVerifier
  readonly limits?: Partial<VerifierLimits>
  readonly clock: Clock
  /** Told of what a verifier throws. */
  readonly onProblem?: (error: unknown) => void
}

/** Has the draws of canaries judged by programs, and tells people when no truth comes. */
export interface Auditor {
  /**
   * Labels what can be labelled now, and has a verifier begin on more: it is not waited for.
   * @throws StoreError
   */
  look(canary: Canary): Promise<void>
  /** Resolves when no verifier is at work. */
  idle(): Promise<void>
}

/** Who says what verifiers and outcomes say. */
const VERIFIER = 'verifier'
const OUTCOME = 'outcome'

/** Makes what has draws judged; where people judge it only watches over the queue. */
export function auditor(parts: AuditorParts): Auditor {
  const { store, audit, clock } = parts
  const work = new Map<string, Promise<void>>()
  const failures = new Map<string, number>()
  const limits = { ...usualVerifierLimits, ...parts.limits }
  return {
    async look(canary) {
      const draws = await store.audits.drawn(canary.id)
      const waiting = draws.filter((draw) => !truthOf(draw, audit, clock.now()).settled)
      if (audit.by === 'outcome') await fromOutcomes(parts, waiting)
      if (audit.by === 'verifier' && parts.verifier) {
        for (const draw of waiting) {
          if (work.size >= limits.concurrency) break
          if (work.has(draw.id)) continue
          const verified = verify(parts, parts.verifier, draw, limits, failures).finally(() => work.delete(draw.id))
          work.set(draw.id, verified)
        }
      }
      await tellOfAudit(store, canary, { audit, draws, now: clock.now() })
    },
    async idle() {
      while (work.size > 0) await Promise.all(work.values())
    },
  }
}

/** Reads what became of sessions, once and for all, when their time is over: the same for both arms. */
async function fromOutcomes(parts: AuditorParts, waiting: readonly AuditDraw[]): Promise<void> {
  const { store, tenant, audit, clock } = parts
  if (!audit.outcome) return
  for (const draw of waiting) {
    const due = draw.at + audit.outcome.withinMs
    if (clock.now() < due) continue
    const signals = await store.signals.of(draw.trajectory, tenant, due)
    const truth = outcomeOf(signals, audit.outcome)
    await label(parts, draw, { reviewer: OUTCOME, truth, note: truth === null ? 'nothing came in time' : '' })
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

/** Never rejects: what a verifier or the store does is told. */
async function verify(
  parts: AuditorParts,
  verifier: AuditVerifier,
  draw: AuditDraw,
  { timeoutMs, tries }: VerifierLimits,
  failures: Map<string, number>,
): Promise<void> {
  const { store, tenant, clock, onProblem } = parts
  try {
    const trajectory = (await store.trajectories.get(draw.trajectory))?.trajectory
    if (!trajectory) return
    const asOf = clock.now()
    const signals = await store.signals.of(draw.trajectory, tenant)
    try {
      const truth = await askVerifier(verifier, { trajectory, signals, asOf }, timeoutMs)
      await label(parts, draw, { reviewer: VERIFIER, truth, note: truth === null ? 'it cannot be told' : '' })
    } catch (error) {
      onProblem?.(error)
      const failed = (failures.get(draw.id) ?? 0) + 1
      failures.set(draw.id, failed)
      if (failed < tries) return
      // What it threw may quote the session, so that it is told and not kept.
      await label(parts, draw, { reviewer: VERIFIER, truth: null, note: `it failed ${failed} times` })
    }
  } catch (error) {
    onProblem?.(error)
  }
}

async function label(
  { store, tenant, audit, clock }: AuditorParts,
  draw: AuditDraw,
  said: Pick<AuditLabel, 'truth' | 'note'> & { readonly reviewer: string },
): Promise<void> {
  const reviewer = ClientName.parse(said.reviewer)
  await store.audits.label({ tenant, draw: draw.id, by: audit.by, at: clock.now(), ...said, reviewer })
}
