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
import { isOutage, Pauses } from './outage.ts'
import type { AuditVerifier } from './verifier.ts'

/** What asking a program about draws takes. */
export interface AskingParts {
  readonly store: Pick<Store, 'audits' | 'signals' | 'trajectories'>
  readonly tenant: Tenant
  readonly clock: Clock
  readonly limits: VerifierLimits
  /** For so long who is asked may be out before that counts as a failure on a session. */
  readonly patienceMs: number
  /** Told of what it throws; of who is out, once each time that it is asked again. */
  readonly onProblem?: ((error: unknown) => void) | undefined
}

/** A program that is asked about draws, some at a time. */
export interface Asking {
  /** Begins on some of those that it has not been asked about: they are not waited for. On none while it is out. */
  begin(waiting: readonly AuditDraw[]): void
  /** Whether it was asked, long enough ago to have answered, and has not since. */
  isSilent(): boolean
  /** Resolves when it is not at work. */
  idle(): Promise<void>
}

type By = 'verifier' | 'judge'

/** What went wrong with one draw. */
interface Trouble {
  readonly failed: number
  /** Since when who is asked is out; `null` where it was never. */
  readonly outSince: number | null
}

/** @param by what its labels are: the word of a verifier, or of a judge. */
export function asking(parts: AskingParts, by: By, asked: AuditVerifier): Asking {
  const { clock, limits } = parts
  const work = new Map<string, Promise<void>>()
  const troubles = new Map<string, Trouble>()
  const pauses = new Pauses(clock)
  // When it was first asked after its last answer.
  let since: number | null = null
  const heard = () => {
    since = null
    pauses.answered()
  }
  return {
    begin(waiting) {
      if (pauses.isPaused) return
      for (const draw of waiting) {
        if (work.size >= limits.concurrency) break
        if (work.has(draw.id)) continue
        since ??= clock.now()
        const done = ask(parts, { by, asked, draw, troubles, pauses, heard }).finally(() => work.delete(draw.id))
        work.set(draw.id, done)
      }
    },
    isSilent: () => since !== null && clock.now() - since >= limits.timeoutMs,
    async idle() {
      while (work.size > 0) await Promise.all(work.values())
    },
  }
}

interface Question {
  readonly by: By
  readonly asked: AuditVerifier
  readonly draw: AuditDraw
  readonly troubles: Map<string, Trouble>
  readonly pauses: Pauses
  readonly heard: () => void
}

/** Never rejects: what it or the store does is told. */
async function ask(parts: AskingParts, question: Question): Promise<void> {
  const { store, tenant, clock, limits, onProblem } = parts
  const { by, asked, draw, troubles, heard } = question
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
      troubles.delete(draw.id)
    } catch (error) {
      const failed = failedOn(error, parts, question)
      if (failed < limits.tries) return
      // What it threw may quote the session, so that it is told and not kept.
      await say({ truth: null, note: `it failed ${failed} times` })
      troubles.delete(draw.id)
    }
  } catch (error) {
    onProblem?.(error)
  }
}

/** Tells of a failure. @returns how many count for the session by now: while who is asked is out, none, for a time. */
function failedOn(
  error: unknown,
  { clock, patienceMs, onProblem }: AskingParts,
  { by, draw, troubles, pauses }: Question,
): number {
  const { failed, outSince } = troubles.get(draw.id) ?? { failed: 0, outSince: null }
  const isOut = isOutage(error, by)
  const now = clock.now()
  const first = outSince ?? now
  const count = isOut && now - first < patienceMs ? failed : failed + 1
  troubles.set(draw.id, { failed: count, outSince: isOut ? first : null })
  if (!isOut || pauses.failed(error)) onProblem?.(error)
  return count
}

const untold = { verifier: 'it cannot be told', judge: 'it said nothing that can be read' } as const

/** One that was erased is known to be missing, for a verifier: of a judge it is said, as nobody can ask it any more. */
async function erased(
  { trajectory, sequence }: AuditDraw,
  by: By,
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
