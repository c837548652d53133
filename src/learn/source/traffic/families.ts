import {
  type Alert,
  contentHash,
  type Repositories,
  type ReviewedTrajectory,
  type Rubric,
  type TrajectoryId,
} from '../../../core/index.ts'
import type { LearnEvent } from '../../events.ts'
import { familiesOf, isDead, recorded, tallyOf } from '../../steer/index.ts'
import { runAlert } from './run-alert.ts'
import type { TrafficRun } from './traffic-run.ts'

/** Requests that are alike, and how their sessions went. */
export interface RequestFamily {
  /** What tells them from others, from run to run, without what people wrote. */
  readonly key: string
  /** The newest session of theirs: shows what they ask. */
  readonly example: TrajectoryId
  readonly sessions: number
  /** The share of sessions that earned more than half of what can be earned. */
  readonly rate: number
  /** Whether nothing goes well: such sessions earn alike, so that rewards teach nothing of them. */
  readonly dead: boolean
}

/** The families of the requests in fresh sessions, as those of tasks are found, the largest first. */
export function familiesIn(
  sessions: readonly ReviewedTrajectory[],
  { floor, ceiling }: Pick<Rubric, 'floor' | 'ceiling'>,
): readonly RequestFamily[] {
  const familyOf = familiesOf(sessions.map(({ trajectory: { task } }) => ({ instruction: task.instruction })))
  const middle = (floor + ceiling) / 2
  const newest = new Map<string, ReviewedTrajectory['trajectory']>()
  const attempted = sessions.flatMap(({ trajectory, reward: { value } }) => {
    if (value === null) return []
    const family = familyOf({ instruction: trajectory.task.instruction })
    const known = newest.get(family)
    if (known === undefined || trajectory.startedAt > known.startedAt) newest.set(family, trajectory)
    return [{ task: trajectory.id, family, success: value > middle }]
  })
  const standing = recorded({}, attempted)
  const families = [...newest].map(([family, { id }]): RequestFamily => {
    const { attempts, successes } = tallyOf(standing, family) ?? { attempts: 0, successes: 0 }
    const key = contentHash(family).slice(0, 16)
    return { key, example: id, sessions: attempts, rate: successes / attempts, dead: isDead(standing, family) }
  })
  return families.toSorted((a, b) => b.sessions - a.sessions)
}

type Told = Extract<LearnEvent, { type: 'families' }>['families'][number]

/** A family as a run tells it. It goes by a session of its own: events outlive what people wrote. */
export const toldOf = ({ example, sessions, rate, dead }: RequestFamily): Told => ({
  family: `like ${example}`,
  rate,
  tasks: sessions,
  dead,
})

/** Families that an alert names, at most; and earlier alerts that are looked through. */
const mostNamed = 20
const lookedThrough = 100

/** Puts the families on which nothing goes well among the alerts, unless the last one that did had the same. */
export async function tellFailing(
  { alerts }: Pick<Repositories, 'alerts'>,
  run: Pick<TrafficRun, 'run' | 'key'>,
  families: readonly RequestFamily[],
  at: number,
): Promise<void> {
  const failing = families.filter(({ dead }) => dead)
  if (failing.length === 0) return
  const keys = failing.map((family) => family.key).toSorted()
  const before = await alerts.list({ agent: run.key, kind: 'learning', limit: lookedThrough })
  const last = before.find(({ name }) => name === 'families')
  if (last && JSON.stringify(last.evidence['keys']) === JSON.stringify(keys)) return
  const named = failing.slice(0, mostNamed)
  const evidence: Alert['evidence'] = {
    keys,
    families: named.map(({ example, sessions, rate }) => ({ example, sessions, rate })),
  }
  const n = failing.reduce((sum, { sessions }) => sum + sessions, 0)
  const kinds = failing.length === 1 ? 'one kind' : `${failing.length} kinds`
  const message = `Nothing goes well on ${kinds} of requests, in ${n} sessions: rewards cannot teach it. Show by edits how it is done, or give tasks of the kind to a run over rollouts. See ${named
    .map(({ example }) => example)
    .slice(0, 3)
    .join(', ')}.`
  await alerts.put(runAlert(run, ['families'], { kind: 'learning', name: 'families', message, evidence, at }))
}
