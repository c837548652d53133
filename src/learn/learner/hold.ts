import { setTimeout as delay } from 'node:timers/promises'
import type { Clock, Lease, LeaseRepository, Repositories } from '../../core/index.ts'
import { LostLeaseError } from '../errors.ts'

/** A lease that this process holds, for as long as it does. */
export interface HeldLease {
  readonly lease: Lease
  /** Fires when it was lost, with a {@link LostLeaseError}, or when the learner is told to stop. */
  readonly signal: AbortSignal
  /**
   * Holds inside a transaction that the lease is still this process's: nobody else can take it before the transaction
   * ends.
   * @throws LostLeaseError
   */
  readonly mayWrite: (tx: Pick<Repositories, 'leases'>) => Promise<void>
}

export interface HoldOptions {
  readonly leases: LeaseRepository
  readonly ttlMs: number
  readonly clock: Clock
  /** Fires when the learner is told to stop. */
  readonly stop: AbortSignal
}

/** Works while a lease is held and renewed, and gives it up at the end, whichever way it ends. */
export async function whileHeld<T>(
  lease: Lease,
  { leases, ttlMs, clock, stop }: HoldOptions,
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const lost = new AbortController()
  const over = new AbortController()
  const time = () => ({ now: clock.now(), ttlMs })
  const lose = () => lost.abort(new LostLeaseError(lease.name))
  const beat = async () => {
    let expiresAt = lease.expiresAt
    for (;;) {
      await delay(ttlMs / 3, undefined, { signal: over.signal })
      try {
        const renewed = await leases.renew(lease, time())
        if (!renewed) return lose()
        expiresAt = renewed.expiresAt
      } catch {
        // A store that is away for a moment takes nothing away, as long as nobody else can have taken it.
        if (clock.now() > expiresAt) return lose()
      }
    }
  }
  const beating = beat().catch(() => {})
  try {
    return await work({
      lease,
      signal: AbortSignal.any([stop, lost.signal]),
      mayWrite: async (tx) => {
        // Renewing locks the lease's row until the transaction ends.
        if (!(await tx.leases.renew(lease, time()))) throw new LostLeaseError(lease.name)
      },
    })
  } finally {
    over.abort()
    await beating
    await leases.release(lease).catch(() => {})
  }
}
