import { type Audit, type Canary, isPaired, type Repositories } from '../../core/index.ts'
import { runningCanary } from '../canary-record.ts'
import { auditOf } from './draw.ts'

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
  const canaries = [await runningCanary(store, agent), await promotedCanary(store, agent)]
  return canaries.flatMap((canary) => {
    const audit = canary && auditOf(canary)
    return canary && audit ? [{ canary, audit }] : []
  })
}

async function promotedCanary(
  { canaries, receipts, releases }: Pick<Repositories, 'canaries' | 'receipts' | 'releases'>,
  agent: string,
): Promise<Canary | null> {
  const serving = await releases.current(agent)
  const release = serving && (await releases.get(serving.release))
  const receipt = release?.receipt ? await receipts.get(release.receipt) : null
  return receipt === null || isPaired(receipt) ? null : canaries.get(receipt.canary)
}
