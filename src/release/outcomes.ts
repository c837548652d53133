import type {
  Canary,
  CanaryOutcome,
  Repositories,
  Rubric,
  ServedBy,
  Signal,
  Tenant,
  Trajectory,
  TrajectoryId,
  TrajectorySummary,
} from '../core/index.ts'

/** How sessions are judged. */
export interface Judging {
  readonly store: Pick<Repositories, 'signals' | 'trajectories'>
  /** What a session earned. */
  readonly rubric: Rubric
  /** The guards' metrics of a session as it was at `asOf`, for example reward's `guardMetrics`; higher is worse. */
  readonly guardMetrics: (
    trajectory: Trajectory,
    signals: readonly Signal[],
    asOf: number,
  ) => { readonly [metric: string]: number | undefined }
  /**
   * How long after it began a session is judged, in milliseconds, by what was known then: the same for both arms, so
   * that neither looks better by ending sooner. Long enough for a session and for what people say of it.
   */
  readonly settleMs: number
  /** Whose sessions they are. */
  readonly tenant: Tenant
  /** Told of sessions that could not be scored: they count as missing. */
  readonly onProblem?: (error: unknown) => void
}

/** What looks at one canary have found so far. Lost with its process; then sessions are scored once more. */
export interface CanaryMemory {
  readonly sessions: Map<TrajectoryId, Scored>
  /** The last look that held and was noted. */
  noted: { readonly step: number; readonly sessions: number; readonly waits: string | null } | null
}

/** A session as it was when it was scored. */
interface Scored {
  readonly updatedAt: number
  readonly signals: number
  /** `null` for one that the canary did not assign. */
  readonly outcome: CanaryOutcome | null
}

export function newCanaryMemory(): CanaryMemory {
  return { sessions: new Map(), noted: null }
}

/** What the settled sessions of a canary showed. */
export interface Gathered {
  /** In the order in which they began. */
  readonly outcomes: readonly CanaryOutcome[]
  /** Settled candidate sessions that began in the step in force. */
  readonly sessionsInStep: number
  /** Settled ones by arm; those that are not settled yet; and those that may not be learned from. */
  readonly sessions: {
    readonly baseline: number
    readonly candidate: number
    readonly unsettled: number
    readonly withheld: number
  }
}

/** More sessions than a canary ever has; the store wants a bound. */
const allSessions = 1_000_000
/** Sessions that are read at once: reading is most of the work of a look. */
const readAtOnce = 16

interface GatherOptions extends Judging {
  readonly canary: Canary
  readonly memory: CanaryMemory
  readonly now: number
}

/** Scores the settled sessions of a canary; those that an earlier look scored are only looked at if they changed. */
export async function gatherOutcomes(options: GatherOptions): Promise<Gathered> {
  const { store, canary, tenant, memory, settleMs, now } = options
  const listed = await store.trajectories.summaries({ canary: canary.id, tenant, limit: allSessions })
  const open = listed.filter(({ train }) => train)
  const settled = open.filter(({ startedAt }) => startedAt + settleMs <= now).toSorted(byBeginning)
  await scoreAll(
    options,
    settled.filter((summary) => !isKnown(memory, summary)),
  )
  forget(memory, listed)

  const outcomes: CanaryOutcome[] = []
  let sessionsInStep = 0
  for (const { id, startedAt } of settled) {
    const outcome = memory.sessions.get(id)?.outcome
    if (!outcome) continue
    outcomes.push(outcome)
    if (outcome.arm === 'candidate' && startedAt >= canary.stepAt) sessionsInStep += 1
  }
  const candidate = outcomes.filter(({ arm }) => arm === 'candidate').length
  const sessions = {
    baseline: outcomes.length - candidate,
    candidate,
    unsettled: open.length - settled.length,
    withheld: listed.length - open.length,
  }
  return { outcomes, sessionsInStep, sessions }
}

/** Counts every session that got the candidate, settled or not, learned from or not. */
export async function candidateSessions(
  { trajectories }: Pick<Repositories, 'trajectories'>,
  { id }: Canary,
  memory: CanaryMemory = newCanaryMemory(),
): Promise<number> {
  const sessions = await trajectories.summaries({ canary: id, limit: allSessions })
  const armOf = async (session: TrajectorySummary['id']) => {
    const known = memory.sessions.get(session)?.outcome
    return known ? known.arm : assignedBy(id, (await trajectories.get(session))?.trajectory)?.arm
  }
  let exposed = 0
  // A rollback waits for this.
  for (let start = 0; start < sessions.length; start += readAtOnce) {
    const arms = await Promise.all(sessions.slice(start, start + readAtOnce).map((session) => armOf(session.id)))
    exposed += arms.filter((arm) => arm === 'candidate').length
  }
  return exposed
}

function byBeginning(a: TrajectorySummary, b: TrajectorySummary): number {
  return a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1)
}

function isKnown(memory: CanaryMemory, { id, updatedAt, signals }: TrajectorySummary): boolean {
  const known = memory.sessions.get(id)
  return known?.updatedAt === updatedAt && known.signals === signals
}

async function scoreAll(options: GatherOptions, summaries: readonly TrajectorySummary[]): Promise<void> {
  for (let start = 0; start < summaries.length; start += readAtOnce) {
    await Promise.all(summaries.slice(start, start + readAtOnce).map((summary) => score(options, summary)))
  }
}

async function score(options: GatherOptions, { id, updatedAt, signals: count }: TrajectorySummary): Promise<void> {
  const { store, canary, tenant, memory } = options
  const recorded = await store.trajectories.get(id)
  if (!recorded) return
  const { trajectory } = recorded
  const assigned = assignedBy(canary.id, trajectory)
  const outcome = assigned && {
    trajectory: id,
    arm: assigned.arm,
    propensity: assigned.propensity,
    ...(await judged(options, trajectory, await store.signals.of(id, tenant))),
  }
  memory.sessions.set(id, { updatedAt, signals: count, outcome })
}

/** What a session earned by the time at which it settled; evidence that cannot be read is missing evidence. */
async function judged(
  { rubric, guardMetrics, settleMs, onProblem }: GatherOptions,
  trajectory: Trajectory,
  signals: readonly Signal[],
): Promise<Pick<CanaryOutcome, 'reward' | 'guards'>> {
  const asOf = trajectory.startedAt + settleMs
  const inTime = signals.filter(({ at }) => at <= asOf)
  try {
    const reward = await rewardOf(rubric, trajectory, inTime, asOf)
    return { reward, guards: measured(guardMetrics(trajectory, inTime, asOf)) }
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

async function rewardOf(
  rubric: Rubric,
  trajectory: Trajectory,
  signals: readonly Signal[],
  asOf: number,
): Promise<number | null> {
  return (await rubric.score(trajectory, signals, asOf)).value
}

function assignedBy(canary: Canary['id'], trajectory: Trajectory | undefined): ServedBy['canary'] {
  const servedBy = trajectory?.origin.kind === 'traffic' ? trajectory.origin.servedBy : null
  return servedBy?.canary?.id === canary ? servedBy.canary : null
}

/** What was erased is not remembered either. */
function forget({ sessions }: CanaryMemory, listed: readonly TrajectorySummary[]): void {
  const there = new Set(listed.map(({ id }) => id))
  for (const id of sessions.keys()) if (!there.has(id)) sessions.delete(id)
}
