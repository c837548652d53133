import type { Removal, Tenant, TrajectoryRepository } from '../../core/index.ts'
import { pseudonymOf } from '../episode/redaction/pseudonym.ts'

/**
 * Removes what was recorded of a person of a tenant: under their name, and under what stood for it while a redaction rule
 * matched it.
 * @param dryRun only counts.
 */
export async function eraseSubject(
  trajectories: Pick<TrajectoryRepository, 'remove'>,
  tenant: Tenant,
  subject: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Removal> {
  const named = await trajectories.remove({ tenant, subject }, { dryRun })
  const hidden = await trajectories.remove({ tenant, subject: pseudonymOf(tenant, subject) }, { dryRun })
  return {
    trajectories: named.trajectories + hidden.trajectories,
    signals: named.signals + hidden.signals,
    derived: named.derived + hidden.derived,
    versions: [...new Set([...named.versions, ...hidden.versions])],
  }
}
