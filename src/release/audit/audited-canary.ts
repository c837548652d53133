import type { Audit, Canary, Repositories } from '../../core/index.ts'
import { runningCanary } from '../canary-record.ts'
import { auditOf } from './draw.ts'
import { promotedCanaries } from './promoted.ts'

/** A canary whose draws may be judged, and how. */
export interface AuditedCanary {
  readonly canary: Canary
  readonly audit: Audit
}

/**
 * The canaries whose truth is asked for now: the one that runs, and those that what serves came from, as late labels
 * reopen their promotions. The running one first, then the latest promotion; those that are not audited are left out.
 */
export async function auditedCanaries(
  store: Pick<Repositories, 'canaries' | 'releases'>,
  agent: string,
): Promise<readonly AuditedCanary[]> {
  const running = await runningCanary(store, agent)
  const promoted = (await promotedCanaries(store, agent)).map(({ canary }) => canary)
  return (running ? [running, ...promoted] : promoted).flatMap((canary) => {
    const audit = auditOf(canary)
    return audit ? [{ canary, audit }] : []
  })
}
