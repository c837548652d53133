import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, type Repositories, type Run, type RunId, type Store, systemClock } from '../core/index.ts'
import { LearnError, LostLeaseError } from './errors.ts'
import { whetherDue } from './learner/due.ts'
import type { LearnerEvent } from './learner/events.ts'
import { type HeldLease, whileHeld } from './learner/hold.ts'
import { listener } from './learner/listener.ts'
import { onceEach } from './learner/once-each.ts'
import { problem } from './learner/problem.ts'
import type { TrafficSummary } from './summary.ts'
import { fromTraffic } from './run/source-of.ts'

/** What a run is given by the learner that begins it. */
export interface LearnerRun {
  /** The run to go on with; `null` for a new one. */
  readonly resume: RunId | null
  readonly signal: AbortSignal
  readonly mayWrite: (tx: Repositories) => Promise<void>
  /** To be told as soon as the run has a name. */
  readonly onStarted: (run: RunId) => void
}

export interface LearnerOptions {
  readonly store: Store
  /** What the agent's releases, runs and alerts go by: `agentKey`. */
  readonly agent: string
  /** One run: `learn` with the agent's traffic. */
  readonly learn: (run: LearnerRun) => Promise<TrafficSummary>
  /** Fresh episodes that a run would find now. */
  readonly fresh: () => Promise<number>
  /** One look at the canary that runs, if one does. */
  readonly watch?: () => Promise<void>
  /** Shows the drift detectors what is new; what they find they put among the alerts. */
  readonly observe?: () => Promise<void>
  /** From the beginning of one run to that of the next, at least. */
  readonly everyMs: number
  readonly minEpisodes: number
  /** Default: a quarter of `minEpisodes`. */
  readonly minEpisodesOnDrift?: number
  /** How long after a session an alert about it may come: a run that began in between has not seen it. Default 0. */
  readonly alertLagMs?: number
  /** How often canaries and drift are looked at. Default 5 s. */
  readonly watchMs?: number
  /** How long a learner that died keeps others waiting. Default 30 s. */
  readonly leaseMs?: number
  /** The name of this process. Default: host, process id and a random part. */
  readonly holder?: string
  /** What it throws is its own problem, and is told to it once. */
  readonly onEvent?: (event: LearnerEvent) => void
  readonly clock?: Clock
}

/** A learner at work. */
export interface Learner {
  /** Resolves when it was stopped; rejects never. */
  readonly done: Promise<void>
  /** Ends the run under way at its next checkpoint, and gives the lease up. */
  stop(): Promise<void>
}

/** A run that ended with its process so many times is not tried again. */
const mostAttempts = 5

/** How often it is considered whether to learn. */
const considerMs = 30_000

/**
 * Learns from an agent's traffic again and again, as the one process that does: it holds the lease `learn:AGENT`, looks at
 * the canary and at drift, while a run trains as well, and begins a run when one is due. A run that another process left unfinished is gone on with
 * first. Whoever loses the lease stops at the next write, which is refused.
 */
export function startLearner(options: LearnerOptions): Learner {
  const stop = new AbortController()
  const done = run({ ...options, onEvent: listener(options.agent, options.onEvent) }, stop.signal)
  return {
    done,
    stop: () => {
      stop.abort(stopped())
      return done
    },
  }
}

async function run(options: LearnerOptions, stop: AbortSignal): Promise<void> {
  const { store, agent, leaseMs = 30_000, clock = systemClock, onEvent = () => {} } = options
  const holder = options.holder ?? `${hostname()}/${process.pid}/${randomUUID().slice(0, 8)}`
  const name = leaseOf(agent)
  let waitsFor: string | null = null
  while (!stop.aborted) {
    try {
      const lease = await store.leases.acquire(name, holder, { now: clock.now(), ttlMs: leaseMs })
      if (lease) {
        waitsFor = null
        onEvent({ type: 'leading', agent, holder, token: lease.token })
        await whileHeld(lease, { leases: store.leases, ttlMs: leaseMs, clock, stop }, (held) => lead(options, held))
      } else {
        const other = (await store.leases.get(name))?.holder ?? ''
        if (other !== waitsFor) onEvent({ type: 'standby', agent, holder: other })
        waitsFor = other
      }
    } catch (error) {
      if (error instanceof LostLeaseError) onEvent({ type: 'lost', agent })
      else if (!stop.aborted) onEvent(problem(agent, 'lease', error))
    }
    await pause(leaseMs / 3, stop)
  }
  onEvent({ type: 'ended', agent })
}

/** The lease of whoever learns for an agent. */
export const leaseOf = (agent: string): string => `learn:${agent}`

/**
 * Looks and learns, until the lease is lost or the learner is stopped. Neither look waits for the other or for a run's end:
 * however long a history takes to read, the canary is watched, as one that nobody watches is given to nobody.
 */
async function lead(options: LearnerOptions, held: HeldLease): Promise<void> {
  const { watch, observe, watchMs = 5_000, everyMs } = options
  const { signal } = held
  const tell = onceEach(options.onEvent)
  const quiet = { ...options, onEvent: tell }
  /** @returns its first time, and all of them. */
  const looking = (during: 'watch' | 'observe', work: LearnerOptions['watch']) => {
    const look = () => attempt(quiet, during, work)
    const first = look()
    const again = () => repeat(look, watchMs, signal)
    return { first, all: first.then(() => pause(watchMs, signal)).then(again) }
  }
  const looks = [looking('watch', watch), looking('observe', observe)]
  const learn = () => attempt(quiet, 'learn', () => consider(options, held, tell), signal)
  // What drifted while nobody looked may open the first run.
  const looked = Promise.all(looks.map(({ first }) => first))
  await Promise.all([
    ...looks.map(({ all }) => all),
    looked.then(() => repeat(learn, Math.min(considerMs, everyMs), signal)),
  ])
  if (signal.reason instanceof LostLeaseError) throw signal.reason
}

/** Does something at once, and again after each pause. */
async function repeat(work: () => Promise<void>, pauseMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await work()
    await pause(pauseMs, signal)
  }
}

async function consider(options: LearnerOptions, held: HeldLease, tell: (event: LearnerEvent) => void): Promise<void> {
  const { store, agent, everyMs, minEpisodes, fresh, alertLagMs = 0, clock = systemClock, onEvent } = options
  const unfinished = await unfinishedRun(options, held)
  if (unfinished) {
    onEvent?.({ type: 'resuming', agent, run: unfinished.id })
    try {
      const summary = await options.learn({ ...contextOf(held), resume: unfinished.id, onStarted: () => {} })
      onEvent?.({ type: 'learned', agent, summary })
    } catch (error) {
      if (error instanceof LearnError && !held.signal.aborted) await giveUp(options, held, unfinished, error)
      throw error
    }
    return
  }
  const minEpisodesOnDrift = options.minEpisodesOnDrift ?? Math.ceil(minEpisodes / 4)
  const now = clock.now()
  const due = await whetherDue({
    store,
    agent,
    everyMs,
    minEpisodes,
    minEpisodesOnDrift,
    alertLagMs,
    fresh,
    now,
  })
  if (!due.due) return tell({ type: 'waiting', agent, reason: due.reason })
  onEvent?.({ type: 'learning', agent, reason: due.reason })
  const opened: Promise<void>[] = []
  const summary = await options.learn({
    ...contextOf(held),
    resume: null,
    onStarted: (id) => {
      for (const alert of due.alerts)
        opened.push(attempt(options, 'learn', () => store.alerts.put({ ...alert, run: id })))
    },
  })
  await Promise.all(opened)
  onEvent?.({ type: 'learned', agent, summary })
}

const contextOf = ({ signal, mayWrite }: HeldLease) => ({ signal, mayWrite })

/** A run that a process left: killed, or told to stop. One that keeps ending with its process is given up. */
async function unfinishedRun(options: LearnerOptions, held: HeldLease): Promise<Run | null> {
  const { store, agent } = options
  for (const left of (await store.runs.list({ agent, limit: 100 })).filter(fromTraffic)) {
    if (left.status !== 'running' && left.status !== 'interrupted') continue
    const attempts = (await store.runs.events(left.id)).filter(({ type }) => type === 'started').length
    if (attempts < mostAttempts || left.status === 'interrupted') return left
    const message = `${attempts} processes ended while they were at it.`
    await giveUp(options, held, left, { code: 'learn/given-up', message })
  }
  return null
}

/** Ends a run that cannot be gone on with: no other would begin while it waits. */
async function giveUp(
  { store, clock = systemClock }: LearnerOptions,
  held: HeldLease,
  { id }: Run,
  { code, message }: Pick<LearnError, 'code' | 'message'>,
): Promise<void> {
  await store.transaction(async (tx) => {
    await held.mayWrite(tx)
    const run = await tx.runs.get(id)
    if (run?.status !== 'running' && run?.status !== 'interrupted') return
    await tx.runs.update(id, { status: 'failed', failure: { code, message }, endedAt: clock.now() })
  })
}

/** Does one thing; what goes wrong is told, and does not end the learner. */
async function attempt(
  { agent, onEvent }: LearnerOptions,
  during: Extract<LearnerEvent, { type: 'problem' }>['during'],
  work: (() => Promise<void>) | undefined,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await work?.()
  } catch (error) {
    if (error instanceof LostLeaseError || signal?.aborted) return
    onEvent?.(problem(agent, during, error))
  }
}

const pause = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }).catch(() => {})

const stopped = () =>
  new LearnError({
    code: 'learn/stopped',
    message: 'The learner was told to stop.',
    hint: 'Start it again to continue from the last checkpoint.',
  })
