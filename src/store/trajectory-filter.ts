import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { CanaryArm, TrafficOrigin, TrajectoryFilter } from '../core/index.ts'
import type { Tables } from './tables.ts'

/** The condition on rows of `trajectories` that a filter is. */
export function matching(filter: TrajectoryFilter) {
  return (eb: ExpressionBuilder<Tables, 'trajectories'>): Expression<SqlBool> => {
    const { run, tenant, origin, session, agent, subject, canary, arm, since, before } = filter
    const conditions: Expression<SqlBool>[] = []
    if (run !== undefined) conditions.push(eb('trajectories.run', '=', run))
    if (tenant !== undefined) conditions.push(eb('trajectories.tenant', '=', tenant))
    if (origin !== undefined) conditions.push(eb('trajectories.origin', '=', origin))
    if (session !== undefined) conditions.push(eb('trajectories.session', '=', session))
    if (agent !== undefined) conditions.push(eb('trajectories.agent', '=', agent))
    if (subject !== undefined) conditions.push(eb('trajectories.id', 'in', aboutSubject(eb, subject)))
    if (canary !== undefined) conditions.push(eb('trajectories.canary', '=', canary))
    if (arm !== undefined) conditions.push(ofArm(eb, arm))
    if (since !== undefined) conditions.push(eb('trajectories.updated_at', '>=', since))
    if (before !== undefined) conditions.push(eb('trajectories.updated_at', '<', before))
    return eb.and(conditions)
  }
}

/** The condition that a canary gave a trajectory to an arm, by its head: nothing else of it is read. */
export function ofArm(eb: ExpressionBuilder<Tables, 'trajectories'>, arm: CanaryArm): Expression<SqlBool> {
  // A quote inside a text is written `\"`: only the assignment reads like this.
  return eb('trajectories.head', 'like', `%"arm":"${arm}"%`)
}

/** Each half by its own index. */
function aboutSubject(eb: ExpressionBuilder<Tables, 'trajectories'>, subject: string) {
  return eb
    .selectFrom('trajectories as about')
    .select('about.id')
    .where('about.subject', '=', subject)
    .unionAll(
      eb
        .selectFrom('further_subjects')
        .select('further_subjects.trajectory as id')
        .where('further_subjects.subject', '=', subject),
    )
}

/**
 * Whether a call that is not committed would make a trajectory of the filter.
 * @param origin `null` where it is not known: any may be meant.
 */
export function wouldMatch(filter: TrajectoryFilter, origin: TrafficOrigin | null, updatedAt: number): boolean {
  const asks = <T>(wanted: T | undefined, is: T) => wanted === undefined || wanted === is
  return (
    filter.run === undefined &&
    asks<string>(filter.origin, 'traffic') &&
    (origin === null ||
      (asks(filter.tenant, origin.tenant) &&
        asks<string | null>(filter.session, origin.session) &&
        asks<string | null>(filter.agent, origin.agent) &&
        asks<string | null>(filter.subject, origin.subject) &&
        asks<string | null>(filter.canary, origin.servedBy?.canary?.id ?? null) &&
        asks<string | null>(filter.arm, origin.servedBy?.canary?.arm ?? null))) &&
    (filter.since === undefined || updatedAt >= filter.since) &&
    (filter.before === undefined || updatedAt < filter.before)
  )
}
