import { type Group, groupAttempts, rng, type ScoredTrajectory, type TaskId } from '../../../core/index.ts'
import { isExample } from '../../../optimize/weights/index.ts'
import { runBatch } from '../../episodes.ts'
import type { RunState } from '../../run/state.ts'
import { recorded, type Standing } from '../../steer/index.ts'
import type { Actor } from './acting.ts'
import { succeeded } from './evaluate.ts'
import { firstSlip } from './other-acts.ts'
import { type ForcedAct, planFor, type Plan, readBefore } from './plan-forced.ts'
import type { RolloutRun } from './rollout-run.ts'

/** Forced attempts at one task, at most. */
const atOneTask = 8
/** Where less than this share of them succeeds, an update makes an eighth as many. */
const leastShare = 0.02
const rarely = 8
/** What an update leaves of earlier ones' count. */
const kept = 0.95
/** Changes that are remembered, at most. */
const remembered = 256

/** Attempts in which one act was forced. */
export interface ForcedAttempts {
  readonly scored: readonly ScoredTrajectory[]
  /** Those of them that may be imitated. */
  readonly won: readonly ScoredTrajectory[]
  /** What such attempts came to so far. */
  readonly standing: RunState['forced']
}

/**
 * A policy can be sure of a wrong act: then all attempts at a task make it, and more of them teach nothing else, however warm.
 * So at tasks at which all attempts failed, further ones go as one of those did up to one act, which is forced to be another;
 * from there the policy acts by itself (branching at tool calls: Dong et al. 2025, ARPO). Changes that led to success before
 * are tried more often. What succeeds is imitated, but where a tool refused a call (a slip that was made good is no example),
 * and where the environment answered otherwise than in the failed attempt. No policy gradient sees forced tokens.
 */
export async function forceOtherActs(
  run: RolloutRun,
  actor: Actor,
  scored: readonly ScoredTrajectory[],
): Promise<ForcedAttempts> {
  const { options, schedule, state } = run
  const most = mostNow(run)
  const failed = rng('forced', options.seed ?? 0, state.update)
    .shuffle(groupAttempts(scored).filter((group) => allFailed(run, group)))
    .slice(0, most)
  const attempts = Math.min(atOneTask, Math.floor(most / Math.max(1, failed.length)))
  const plans = new Map<TaskId, Plan>()
  for (let from = 0; from < failed.length; from += schedule.concurrency) {
    const some = failed.slice(from, from + schedule.concurrency)
    const planned = await Promise.all(some.map((group) => planFor(run, group, attempts)))
    for (const plan of planned) if (plan) plans.set(plan.task.id, plan)
  }
  if (plans.size === 0) return { scored: [], won: [], standing: state.forced }
  const actIn = (task: TaskId, attempt: number): ForcedAct | null => {
    const acts = plans.get(task)?.acts ?? []
    return acts[attempt % acts.length] ?? null
  }
  const made = await runBatch(
    run,
    { ...actor, temperature: schedule.temperature, forced: (task, attempt) => actIn(task, attempt)?.forced ?? null },
    { name: `update-${state.update}-forced`, tasks: [...plans.values()].map(({ task }) => task), attempts },
  )
  const won = made.filter((one) => {
    const { task, attempt } = one.trajectory
    return isExample(one, run.successThreshold) && wentAlong(one, actIn(task.id, attempt))
  })
  const came = made.flatMap((one) => {
    const { task, attempt } = one.trajectory
    const act = one.reward.value === null ? null : actIn(task.id, attempt)
    return act === null ? [] : [{ task: task.id, family: act.change, success: won.includes(one) }]
  })
  const { all, changes } = state.forced
  const standing = {
    all: { attempts: kept * all.attempts + came.length, successes: kept * all.successes + won.length },
    changes: lately(recorded(changes, came), new Set(came.map(({ family }) => family))),
  }
  return { scored: made, won, standing }
}

/** Forced attempts of this update, at most: few where hardly any succeeded so far, none where nothing imitates. */
function mostNow({ schedule, weights, state: { forced } }: RolloutRun): number {
  const { attempts, successes } = forced.all
  if (schedule.imitation === 0 || !weights.some(({ plan }) => plan.imitation)) return 0
  const pays = attempts < schedule.forcedAttempts / 2 || successes >= leastShare * attempts
  return pays ? schedule.forcedAttempts : Math.ceil(schedule.forcedAttempts / rarely)
}

const allFailed = ({ successThreshold }: RolloutRun, { attempts }: Group): boolean =>
  attempts.every(({ reward }) => succeeded(reward, successThreshold) === false)

/** Whether an attempt read what the failed one had read when it acted otherwise, and no tool refused a call of it. */
function wentAlong({ trajectory }: ScoredTrajectory, act: ForcedAct | null): boolean {
  if (act === null || firstSlip(trajectory) !== Number.POSITIVE_INFINITY) return false
  return readBefore(trajectory, act.forced.turns.length - 1) === act.read
}

/** The changes that were tried last. */
function lately(changes: Standing, tried: ReadonlySet<string>): Standing {
  const entries = Object.entries(changes).toSorted(([a], [b]) => Number(tried.has(a)) - Number(tried.has(b)))
  return Object.fromEntries(entries.slice(-remembered))
}
