import type { Audit, Canary, Repositories } from '../../core/index.ts'
import { runningCanary } from '../canary-record.ts'
import { auditOf } from './draw.ts'
import { promotedByCanary } from './promoted.ts'

/** A canary whose draws may be judged, and how. */
export interface AuditedCanary {
  readonly canary: Canary
  readonly audit: Audit
}

/**
 * The canaries whose truth is asked for now: the one that runs, and the one that what serves came from, as late labels
 * reopen its promotion. The running one first; those that are not audited are left out.
 */
export async function auditedCanaries(
  store: Pick<Repositories, 'canaries' | 'receipts' | 'releases'>,
  agent: string,
): Promise<readonly AuditedCanary[]> {
  const promoted = await promotedByCanary(store, agent)
  const canaries = [await runningCanary(store, agent), promoted?.canary]
  return canaries.flatMap((canary) => {
    const audit = canary && auditOf(canary)
    return canary && audit ? [{ canary, audit }] : []
  })
}
