import type { z } from 'zod'
import type {
  Canary,
  JudgedSession,
  Repositories,
  Rubric,
  ServedBy,
  Signal,
  Tenant,
  Trajectory,
  UnjudgedSession,
} from '../core/index.ts'
import type { ReporterLimits, ReporterShares } from '../reward/index.ts'
import { sameAskedNext } from './next-sessions.ts'
import { type PeopleSeen, trustOf } from './people.ts'

/** How sessions are judged. */
export interface Judging {
  readonly store: Pick<Repositories, 'audits' | 'canaries' | 'signals' | 'trajectories'>
  /** What a session earned. */
  readonly rubric: Rubric
  /** The guards' metrics of a session as it was at `asOf`, for example reward's `guardMetrics`; higher is worse. */
  readonly guardMetrics: (
    trajectory: Trajectory,
    signals: readonly Signal[],
    asOf: number,
  ) => { readonly [metric: string]: number | undefined }
  /** What each signal of an audited session pays, for example by reward's `signalPays`. Default: it is not kept. */
  readonly signalPays?: {
    /** Hash of the agent's rubric: what another one pays is of another unit. */
    readonly rubric: string
    of(trajectory: Trajectory, signals: readonly Signal[], asOf: number): Promise<Readonly<Record<string, number>>>
  }
  /**
   * How long after it began a session is judged, in milliseconds, by what had been received then: the same for both arms,
   * so that neither looks better by ending sooner. Long enough for a session and for what people say of it.
   */
  readonly judgeAfterMs: number
  /** How many of the judged sessions one reporter may decide. Default: any number. */
  readonly reporters?: z.input<typeof ReporterLimits>
  /** Whose sessions they are. */
  readonly tenant: Tenant
  /** Told of sessions that could not be scored: they count as missing. */
  readonly onProblem?: (error: unknown) => void
}

/** From when until when nobody looked at a canary. */
export interface Gap {
  readonly from: number
  readonly until: number
}

/** What is known of a session when it is judged. */
export interface DueSession extends UnjudgedSession {
  readonly assigned: NonNullable<ServedBy['canary']>
  /** As it was when it was due; `null` where its first call had not ended. */
  readonly recorded: Trajectory | null
  /** As it is: whose it is, where it was not recorded when it was due. */
  readonly later: Trajectory
  readonly signals: readonly Signal[]
}

/** Reads a session as it was when it was due; `null` for one that the canary did not assign, or that is gone. */
export async function dueSession(
  { store, tenant, judgeAfterMs }: Judging,
  canary: Canary,
  session: UnjudgedSession,
): Promise<DueSession | null> {
  const { trajectory, began } = session
  const due = began + judgeAfterMs
  const recorded = (await store.trajectories.get(trajectory, due))?.trajectory ?? null
  const later = recorded ?? (await store.trajectories.get(trajectory))?.trajectory
  const assigned = later?.origin.kind === 'traffic' ? later.origin.servedBy?.canary : null
  if (!later || assigned?.id !== canary.id) return null
  const signals = await store.signals.of(trajectory, tenant, due)
  const trust = trustOf(canary)
  const next = trust && recorded && (await sameAskedNext(store, trust, recorded, due))
  const heard = signals.filter(({ at }) => at <= due)
  return { ...session, assigned, recorded, later, signals: next ? [...heard, next] : heard }
}

/**
 * Judges one session.
 * @param shares what reporters have decided before it; counts it.
 * @param people who had which arm before it, where persons have one; counts it.
 * @param gaps when nobody looked at its canary.
 */
export async function judgeSession(
  judging: Judging,
  { trajectory, began, train, assigned: { arm, propensity }, recorded, later, signals }: DueSession,
  {
    shares,
    people,
    gaps,
  }: {
    readonly shares: ReporterShares | null
    readonly people: PeopleSeen | null
    readonly gaps: readonly Gap[]
  },
): Promise<Omit<JudgedSession, 'sequence' | 'began' | 'rules' | 'audit'>> {
  const due = began + judging.judgeAfterMs
  const nothing = { trajectory, arm, propensity, reward: null, guards: {}, leftOut: null, unheard: 0, reporters: [] }
  if (!train) return { ...nothing, leftOut: 'forbidden' }
  // By when it began alone: whichever arm, and whatever it did.
  if (gaps.some(({ from, until }) => began <= until && from < due)) return { ...nothing, leftOut: 'unwatched' }
  // One that was recorded too late counts as its owner's, too.
  const heard = shares?.take({ trajectory: later, signals: recorded ? signals : [] })
  if (heard === null) return { ...nothing, leftOut: 'over-share' }
  const person = people?.take(later, arm, propensity) ?? null
  const kept = {
    ...nothing,
    propensity: person?.propensity ?? propensity,
    unheard: heard?.unheard ?? 0,
    reporters: [...(heard?.reporters ?? []), ...(person ? [person.name] : [])],
  }
  return recorded ? { ...kept, ...(await scored(judging, recorded, heard?.signals ?? signals, due)) } : kept
}

/** What a session earned; evidence that cannot be read is missing evidence. */
async function scored(
  { rubric, guardMetrics, signalPays, onProblem }: Judging,
  trajectory: Trajectory,
  signals: readonly Signal[],
  asOf: number,
): Promise<Pick<JudgedSession, 'reward' | 'guards' | 'signals' | 'paidBy'>> {
  try {
    const { value } = await rubric.score(trajectory, signals, asOf)
    const guards = measured(guardMetrics(trajectory, signals, asOf))
    const paid = signalPays && { signals: await signalPays.of(trajectory, signals, asOf), paidBy: signalPays.rubric }
    return { reward: value, guards, ...paid }
  } catch (error) {
    onProblem?.(error)
    return { reward: null, guards: {} }
  }
}

function measured(metrics: ReturnType<Judging['guardMetrics']>): Record<string, number> {
  const guards: Record<string, number> = {}
  for (const [name, value] of Object.entries(metrics)) if (value !== undefined) guards[name] = value
  return guards
}
