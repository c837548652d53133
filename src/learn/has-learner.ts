import type { Repositories } from '../core/index.ts'
import { leaseOf } from './learner.ts'

/** Whether a learner is at work for an agent, in whatever process: it looks at the agent's canaries. */
export async function hasLearner(
  { leases }: Pick<Repositories, 'leases'>,
  agent: string,
  now = Date.now(),
): Promise<boolean> {
  const lease = await leases.get(leaseOf(agent))
  return lease !== null && lease.expiresAt > now
}
