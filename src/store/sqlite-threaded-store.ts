import { AsyncLocalStorage } from 'node:async_hooks'
import { dirname, join } from 'node:path'
import type { Repositories, Store } from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'
import type { BlobStorage } from './blobs.ts'
import { ClosedStoreError, OutsideTransactionError, ReadOnlyStoreError } from './errors/index.ts'
import { fileBlobs, readOnlyBlobs } from './file-blobs.ts'
import { toCallRowsInParts } from './recorded-call.ts'
import { StoreThread } from './sqlite-thread.ts'
import type { RepositoryCall, ThreadStore } from './sqlite-thread-protocol.ts'

/**
 * Which thread does what. A commit waits for the disk, and a scan for thousands of rows: neither may keep a request
 * that only looks something up, and none of them the event loop that streams to clients.
 */
type Lane = 'write' | 'look-up' | 'scan'

type CallsIn<R extends keyof Repositories> = {
  readonly [M in keyof Repositories[R]]: Repositories[R][M] extends (...args: infer A) => unknown
    ? Lane | ((...args: A) => Lane)
    : never
}

/** Blobs are files, written and read without a thread of ours; only what names them is in the database. */
const lanes: { readonly [R in Exclude<keyof Repositories, 'blobs'>]: CallsIn<R> } & {
  readonly blobs: Pick<CallsIn<'blobs'>, 'delete'>
} = {
  blobs: { delete: 'write' },
  versions: { put: 'write', get: 'look-up' },
  trajectories: {
    append: 'write',
    get: 'look-up',
    size: 'look-up',
    list: 'scan',
    summaries: 'scan',
    count: 'scan',
    remove: (_, { dryRun }) => (dryRun ? 'scan' : 'write'),
  },
  traffic: { append: 'write', savePending: 'write', recoverPending: 'write', turns: 'look-up', request: 'look-up' },
  claims: { take: 'write', renew: 'write', release: 'write' },
  keys: { put: 'write', get: 'look-up', list: 'look-up', revoke: 'write', removeExpired: 'write' },
  signals: { append: 'write', of: 'look-up', page: 'look-up', last: 'look-up' },
  runs: {
    create: 'write',
    update: 'write',
    get: 'look-up',
    list: 'look-up',
    appendEvents: 'write',
    events: 'scan',
    saveCheckpoint: 'write',
    latestCheckpoint: 'look-up',
  },
  receipts: { put: 'write', get: 'look-up' },
  ledger: { append: 'write', uses: 'scan' },
  levels: { put: 'write', get: 'look-up', latest: 'look-up', countPromoted: 'look-up', promoted: 'write' },
  releases: {
    put: 'write',
    get: 'look-up',
    list: 'look-up',
    activate: 'write',
    current: 'look-up',
    activations: 'look-up',
    recent: 'look-up',
    serving: 'look-up',
    pin: 'write',
    pinned: 'look-up',
    revision: 'look-up',
  },
  canaries: {
    put: 'write',
    get: 'look-up',
    running: 'look-up',
    list: 'look-up',
    watch: 'write',
    watched: 'look-up',
    appendJudged: 'write',
    judged: 'scan',
    unjudged: 'scan',
    countUnjudged: 'scan',
    appendEvent: 'write',
    events: 'scan',
  },
  leases: { acquire: 'write', renew: 'write', release: 'write', get: 'look-up' },
  audits: { drawn: 'scan', forJudge: 'scan', get: 'look-up', marks: 'look-up', label: 'write', withdraw: 'write' },
  alerts: { put: 'write', get: 'look-up', list: 'look-up' },
}

/** Starts a thread that is to open the store. */
export type StartThread = (store: ThreadStore) => StoreThread

/**
 * A store in SQLite whose work is done in threads: one writes, one looks up, one scans. What travels is calls of the
 * repositories, not statements: measured, a connection behind a port costs three times the CPU of one in this thread
 * (each statement of a transaction wakes both sides), a store behind it a fifth more, and this thread is free of the
 * serializing, too. A thread that crashed is replaced by the next call; what it had not answered rejects.
 * @throws what `openStore` throws.
 */
export async function openThreadedStore(
  { path, readonly }: ThreadStore,
  start: StartThread = (store) => new StoreThread(store),
): Promise<Store> {
  const threads = new Map<Lane, StoreThread>()
  const startIn = (lane: Lane): StoreThread => {
    const thread = start({ path, readonly: lane !== 'write' })
    threads.set(lane, thread)
    return thread
  }
  const threadOf = (lane: Lane): StoreThread => {
    const known = threads.get(lane)
    if (known && !known.ended) return known
    const thread = startIn(lane)
    // A failure is also told to whoever asks the thread for something.
    thread.open().catch(() => {})
    return thread
  }
  const closeAll = async () => {
    // The writer last: it leaves the database without a log when nobody else has it open.
    await Promise.allSettled([threads.get('scan')?.close(), threads.get('look-up')?.close()])
    await threads.get('write')?.close()
  }

  try {
    // Both start at once; there may be nothing to read before the writer has made it.
    const [writer, reader] = [readonly ? null : startIn('write'), startIn('look-up')]
    await writer?.open()
    await reader.open()
  } catch (error) {
    await closeAll()
    throw error
  }

  const transactions = new AsyncLocalStorage<{ open: boolean }>()
  let closed: Promise<void> | null = null
  const assertUsable = () => {
    if (closed) throw new ClosedStoreError(path)
    if (transactions.getStore()?.open) throw new OutsideTransactionError()
  }
  const usable = (lane: Lane): StoreThread => {
    assertUsable()
    if (readonly && lane === 'write') throw new ReadOnlyStoreError(path)
    return threadOf(lane)
  }
  const folder = join(dirname(path), 'blobs')
  const blobs = readonly ? readOnlyBlobs(folder) : fileBlobs(folder)

  return {
    ...repositoriesOver((lane, call) => usable(lane).request({ kind: 'call', transaction: null, call }), blobs),

    async transaction(work) {
      const thread = usable('write')
      const transaction = (await thread.request({ kind: 'begin' })) as number
      const scope = { open: true }
      const end = (outcome: 'commit' | 'rollback') => {
        scope.open = false
        return thread.request({ kind: 'end', transaction, outcome })
      }
      const tx = repositoriesOver((_, call) => {
        if (!scope.open) throw new InvariantError('a transaction was used after its end')
        return thread.request({ kind: 'call', transaction, call })
      }, blobs)
      let result: Awaited<ReturnType<typeof work>>
      try {
        result = await transactions.run(scope, () => work(tx))
      } catch (error) {
        // Nothing of it is kept, whether or not this is answered; what went wrong is what the caller wants to know.
        await end('rollback').catch(() => {})
        throw error
      }
      await end('commit')
      return result
    },

    async backup(folder) {
      assertUsable()
      // In a thread of its own, for it takes as long as the store is large.
      const thread = start({ path, readonly: true })
      try {
        await thread.open()
        await thread.request({ kind: 'backup', folder })
      } finally {
        await thread.close()
      }
    },

    async close() {
      closed ??= closeAll()
      await closed
    },
  }
}

/** Every repository, each call of which is sent in its lane. */
function repositoriesOver(
  send: (lane: Lane, call: RepositoryCall) => Promise<unknown>,
  blobs: BlobStorage,
): Repositories {
  const made = Object.entries(lanes).map(([repository, methods]) => {
    const calls = Object.entries(methods).map(([method, lane]) => {
      const laneOf = typeof lane === 'function' ? (lane as (...args: unknown[]) => Lane) : () => lane as Lane
      const call = async (...args: unknown[]) =>
        send(laneOf(...args), { repository: repository as keyof Repositories, method, args })
      return [method, call] as const
    })
    return [repository, Object.fromEntries(calls)] as const
  })
  const repositories = Object.fromEntries(made) as unknown as Repositories
  return {
    ...repositories,
    traffic: {
      ...repositories.traffic,
      // To copy texts to another thread costs a fraction of copying what they are made of.
      append: async (call) => {
        await send('write', { repository: 'traffic', method: 'appendRows', args: [await toCallRowsInParts(call)] })
      },
    },
    blobs: { ...repositories.blobs, put: (bytes) => blobs.put(bytes), get: (hash) => blobs.get(hash) },
  }
}
