import type { Repositories } from '../core/index.ts'
import type { Access } from './access.ts'
import { alertRepository } from './alerts.ts'
import { auditRepository } from './audits.ts'
import { blobRepository, type BlobStorage } from './blobs.ts'
import { canaryRepository } from './canaries.ts'
import { claimRepository } from './claims.ts'
import { keyRepository } from './keys.ts'
import { leaseRepository } from './leases.ts'
import { ledgerRepository } from './ledger.ts'
import { levelRepository } from './levels.ts'
import { receiptRepository } from './receipts.ts'
import { releaseRepository } from './releases.ts'
import { runRepository } from './runs.ts'
import { signalRepository } from './signals.ts'
import { trafficRepository } from './traffic.ts'
import { trajectoryRepository } from './trajectories.ts'
import { versionRepository } from './versions.ts'

/** Every repository over one way to reach the database. */
export function repositories(access: Access, blobs: BlobStorage): Repositories {
  return {
    blobs: blobRepository(access, blobs),
    versions: versionRepository(access),
    trajectories: trajectoryRepository(access),
    traffic: trafficRepository(access),
    claims: claimRepository(access),
    keys: keyRepository(access),
    signals: signalRepository(access),
    runs: runRepository(access),
    receipts: receiptRepository(access),
    ledger: ledgerRepository(access),
    levels: levelRepository(access),
    releases: releaseRepository(access),
    canaries: canaryRepository(access),
    audits: auditRepository(access),
    leases: leaseRepository(access),
    alerts: alertRepository(access),
  }
}
