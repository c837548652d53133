import type { Repositories, Store } from '../../src/core/index.ts'

/** The process that used the store is gone: whatever it does next has no effect. */
export class Crash extends Error {}

/**
 * A store whose process dies at its n-th write, counted from 1: just before the write, or just after it and before
 * anyone hears of it. Writes inside a transaction count as one.
 */
export function crashingStore(store: Store, n: number, moment: 'before' | 'after') {
  let writes = 0
  const write = async <T>(work: () => Promise<T>): Promise<T> => {
    writes++
    if (writes > n || (writes === n && moment === 'before')) throw new Crash()
    const result = await work()
    if (writes === n) throw new Crash()
    return result
  }
  const crashing: Store = {
    ...store,
    blobs: {
      ...store.blobs,
      put: (bytes) => write(() => store.blobs.put(bytes)),
      delete: (hash) => write(() => store.blobs.delete(hash)),
    },
    versions: { ...store.versions, put: (version) => write(() => store.versions.put(version)) },
    trajectories: { ...store.trajectories, append: (records) => write(() => store.trajectories.append(records)) },
    runs: {
      ...store.runs,
      create: (run) => write(() => store.runs.create(run)),
      update: (id, change) => write(() => store.runs.update(id, change)),
    },
    receipts: { ...store.receipts, put: (receipt) => write(() => store.receipts.put(receipt)) },
    transaction: <T>(work: (tx: Repositories) => Promise<T>) => write(() => store.transaction(work)),
  }
  return { store: crashing, crashed: () => writes >= n }
}
