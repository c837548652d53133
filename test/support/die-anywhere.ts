import type { RunId, Store } from '../../src/core/index.ts'
import { openMemoryStore } from '../../src/store/index.ts'
import { crashingStore } from './crashing-store.ts'

/** What is begun, and looked at after it was gone on with. */
export interface Dying {
  /** The first write at which it dies, and how many further on it dies the next time. */
  readonly first: number
  readonly every: number
  readonly run: (store: Store, resume?: RunId) => Promise<unknown>
  readonly check: (store: Store, diedAt: number) => Promise<void>
}

/**
 * Lets a run's process die at one write after the other, each time in a new store, until it no longer comes so far; and goes on
 * with each run from where it stood.
 * @returns how often it died.
 */
export async function dieAnywhere({ first, every, run, check }: Dying): Promise<number> {
  let died = 0
  for (let n = first; ; n += every) {
    const store = await openMemoryStore()
    const dying = crashingStore(store, n, n % 2 === 0 ? 'before' : 'after')
    await run(dying.store).catch(() => {})
    if (!dying.crashed()) return died
    died++
    const [begun] = await store.runs.list({ limit: 1 })
    if (begun?.status !== 'completed') await run(store, begun?.id)
    await check(store, n)
    await store.close()
  }
}
