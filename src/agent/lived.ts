import {
  type Audience,
  causedByPolicy,
  type Credit,
  subjectMark,
  type Tenant,
  type Trajectory,
  type TrajectoryId,
} from '../core/index.ts'

/** Whose data something is: it reaches nobody else. `tenant: null` is nobody's, from practice; `about: null` is everybody's of the tenant. */
export interface Owner {
  readonly tenant: Tenant | null
  /** What stands for a person: see `subjectMark`. */
  readonly about: string | null
}

/** Whether what is somebody's may reach somebody: it is nobody's, or the tenant's, or the person's own. */
export const reaches = ({ tenant, about }: Owner, to: Audience): boolean =>
  tenant === null ||
  (tenant === to.tenant && (about === null || (to.subject !== null && about === subjectMark(tenant, to.subject))))

/** One episode as something to learn from: whose it is, and what came of it. */
export interface Lived {
  readonly trajectory: TrajectoryId
  /** When it began, in milliseconds since the epoch. */
  readonly at: number
  readonly origin: Trajectory['origin']['kind']
  /** The audience that what it teaches may reach. */
  readonly owner: Owner
  /** What tells it from others that say something of their own: its task, its person, else itself. */
  readonly source: string
  /** Where it came from: its trajectory, and the person that it was about. */
  readonly derivedFrom: readonly string[]
  /** Whether it ended by what the agent did. A broken one is no example of anything. */
  readonly whole: boolean
  /** How much better it went than expected; `null` where that is not known. */
  readonly advantage: number | null
  /**
   * What it earned, where the credits say; `null` where they do not, and for what a guard vetoed: that is
   * an example of nothing, good or bad.
   */
  readonly earned: number | null
  /** The least and the most that an episode can earn. */
  readonly range: readonly [number, number]
}

/** @param credit of a Decision of it. */
export const lived = (trajectory: Trajectory, credit: Credit): Lived => ({
  trajectory: trajectory.id,
  at: trajectory.startedAt,
  ...whence(trajectory),
  whole: causedByPolicy(trajectory.stopReason) && trajectory.failure === null,
  advantage: credit.advantage,
  earned: credit.vetoed === true ? null : (credit.utility ?? null),
  range: credit.range ?? [0, 1],
})

function whence({ id, origin, task }: Trajectory): Pick<Lived, 'origin' | 'owner' | 'source' | 'derivedFrom'> {
  if (origin.kind === 'rollout') {
    return { origin: 'rollout', owner: nobodys, source: `task:${task.id}`, derivedFrom: [id] }
  }
  const { tenant } = origin
  const subject = origin.kind === 'traffic' ? origin.subject : null
  const about = subject === null ? null : subjectMark(tenant, subject)
  return {
    origin: origin.kind,
    owner: { tenant, about },
    source: about ?? `session:${id}`,
    derivedFrom: about === null ? [id] : [id, about],
  }
}

const nobodys: Owner = { tenant: null, about: null }

/** What an episode says of what acted in it. */
export interface CameTo {
  /** How it went, from -1 to 1. */
  readonly signal: number
  /** Whether it may be learned from as something that worked, as something that did not, or as nothing at all. */
  readonly example: 'worked' | 'failed' | null
}

/**
 * How an episode went; `null` where that is not known. What it earned counts where the credits tell it: the least that an
 * episode can earn is -1 and the most 1, MemRL's ±1. Else how much better it went than expected. What broke, what a guard
 * vetoed and what nothing is known of is no example of anything.
 */
export function cameTo(one: Pick<Lived, 'whole' | 'earned' | 'range' | 'advantage'>): CameTo | null {
  const { whole, earned, advantage, range } = one
  const [least, most] = range
  const told = earned === null ? advantage : (2 * (earned - least)) / (most - least) - 1
  if (told === null || !Number.isFinite(told)) return null
  return { signal: Math.max(-1, Math.min(1, told)), example: whole ? exampleIn(told, one) : null }
}

function exampleIn(told: number, { earned, range: [least] }: Pick<Lived, 'earned' | 'range'>): CameTo['example'] {
  // An advantage alone does not tell a failure from what was vetoed.
  if (earned === null) return told > 0 ? 'worked' : null
  // Between blame and praise lies what nobody can call either. Half of a reward without blame is half of a success.
  if (told === 0 && least < 0) return null
  return told >= 0 ? 'worked' : 'failed'
}

/** Earlier first; of those at once in the order of their names: learning depends on no order in which a batch comes. */
export const byTime = (a: Pick<Lived, 'at' | 'trajectory'>, b: Pick<Lived, 'at' | 'trajectory'>): number =>
  a.at - b.at || (a.trajectory < b.trajectory ? -1 : 1)
