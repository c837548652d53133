import type { Removal, Tenant, TrajectoryRepository } from '../../core/index.ts'
import { pseudonymOf } from '../episode/redaction/pseudonym.ts'

/**
 * Removes what was recorded of a person of a tenant: under their name, and under what stood for it while a redaction rule
 * matched it. Calls about them that are under way are not recorded.
 * @param dryRun only counts.
 * @param now by the clock that calls begin by; the machine's by default.
 */
export async function eraseSubject(
  trajectories: Pick<TrajectoryRepository, 'remove'>,
  tenant: Tenant,
  subject: string,
  options: { readonly dryRun: boolean; readonly now?: number },
): Promise<Removal> {
  const named = await trajectories.remove({ tenant, subject }, options)
  const hidden = await trajectories.remove({ tenant, subject: pseudonymOf(tenant, subject) }, options)
  return {
    trajectories: named.trajectories + hidden.trajectories,
    signals: named.signals + hidden.signals,
    derived: named.derived + hidden.derived,
    keys: named.keys + hidden.keys,
    versions: [...new Set([...named.versions, ...hidden.versions])],
    // The second looked at all that the first left.
    remains: hidden.remains,
  }
}
