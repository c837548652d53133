import {
  type AuditDraw,
  type AuditLabel,
  type AuditSource,
  ClientName,
  type Clock,
  type Store,
  type Tenant,
} from '../../core/index.ts'
import { askVerifier, type VerifierLimits } from './ask-verifier.ts'
import type { AuditVerifier } from './verifier.ts'

/** What asking a program about draws takes. */
export interface AskingParts {
  readonly store: Pick<Store, 'audits' | 'signals' | 'trajectories'>
  readonly tenant: Tenant
  readonly clock: Clock
  readonly limits: VerifierLimits
  /** Told of what it throws. */
  readonly onProblem?: ((error: unknown) => void) | undefined
}

/** A program that is asked about draws, some at a time. */
export interface Asking {
  /** Begins on some of those that it has not been asked about: they are not waited for. */
  begin(waiting: readonly AuditDraw[]): void
  /** Whether it was asked, long enough ago to have answered, and has not since. */
  isSilent(): boolean
  /** Resolves when it is not at work. */
  idle(): Promise<void>
}

/** @param by what its labels are: the word of a verifier, or of a judge. */
export function asking(parts: AskingParts, by: 'verifier' | 'judge', asked: AuditVerifier): Asking {
  const work = new Map<string, Promise<void>>()
  const failures = new Map<string, number>()
  // When it was first asked after its last answer.
  let since: number | null = null
  const heard = () => {
    since = null
  }
  return {
    begin(waiting) {
      for (const draw of waiting) {
        if (work.size >= parts.limits.concurrency) break
        if (work.has(draw.id)) continue
        since ??= parts.clock.now()
        const done = ask(parts, { by, asked, draw, failures, heard }).finally(() => work.delete(draw.id))
        work.set(draw.id, done)
      }
    },
    isSilent: () => since !== null && parts.clock.now() - since >= parts.limits.timeoutMs,
    async idle() {
      while (work.size > 0) await Promise.all(work.values())
    },
  }
}

/** Never rejects: what it or the store does is told. */
async function ask(
  parts: AskingParts,
  {
    by,
    asked,
    draw,
    failures,
    heard,
  }: {
    readonly by: 'verifier' | 'judge'
    readonly asked: AuditVerifier
    readonly draw: AuditDraw
    readonly failures: Map<string, number>
    readonly heard: () => void
  },
): Promise<void> {
  const { store, tenant, clock, limits, onProblem } = parts
  const say = (said: Pick<AuditLabel, 'truth' | 'note'>) => label(parts, draw, { by, reviewer: by, ...said })
  try {
    const trajectory = (await store.trajectories.get(draw.trajectory))?.trajectory
    if (!trajectory) return await erased(draw, by, say)
    const asOf = clock.now()
    const signals = await store.signals.of(draw.trajectory, tenant)
    try {
      const truth = await askVerifier(asked, { trajectory, signals, asOf }, limits.timeoutMs)
      heard()
      await say({ truth, note: truth === null ? untold[by] : '' })
    } catch (error) {
      onProblem?.(error)
      const failed = (failures.get(draw.id) ?? 0) + 1
      failures.set(draw.id, failed)
      if (failed < limits.tries) return
      // What it threw may quote the session, so that it is told and not kept.
      await say({ truth: null, note: `it failed ${failed} times` })
    }
  } catch (error) {
    onProblem?.(error)
  }
}

const untold = { verifier: 'it cannot be told', judge: 'it said nothing that can be read' } as const

/** One that was erased is known to be missing, for a verifier: of a judge it is said, as nobody can ask it any more. */
async function erased(
  { trajectory, sequence }: AuditDraw,
  by: 'verifier' | 'judge',
  say: (said: Pick<AuditLabel, 'truth' | 'note'>) => Promise<void>,
): Promise<void> {
  if (by === 'judge' && trajectory === `erased-${sequence}`) await say({ truth: null, note: '' })
}

/** Keeps what was said of a draw. */
export async function label(
  { store, tenant, clock }: Pick<AskingParts, 'tenant' | 'clock'> & { readonly store: Pick<Store, 'audits'> },
  draw: AuditDraw,
  said: Pick<AuditLabel, 'truth' | 'note'> & { readonly by: AuditSource; readonly reviewer: string },
): Promise<void> {
  const reviewer = ClientName.parse(said.reviewer)
  await store.audits.label({ tenant, draw: draw.id, at: clock.now(), ...said, reviewer })
}
