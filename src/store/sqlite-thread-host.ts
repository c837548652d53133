import type { Repositories, Store } from '../core/index.ts'
import { InvariantError, present } from '../errors/index.ts'
import { plainErrorOf } from './sqlite-thread-error.ts'
import type {
  NumberedRequest,
  RepositoryCall,
  ThreadAnswer,
  ThreadRequest,
  ThreadStore,
} from './sqlite-thread-protocol.ts'

/** A thread's own end of the line to the thread that started it. */
export interface HostPort {
  on(event: 'message', listener: (message: NumberedRequest) => void): unknown
  postMessage(answers: readonly ThreadAnswer[]): void
}

interface OpenTransaction {
  readonly repositories: Repositories
  readonly end: (outcome: 'commit' | 'rollback') => void
  /** Settles as the transaction does. */
  readonly ended: Promise<void>
}

/** Thrown into a transaction that is to be rolled back. */
class RollBack extends Error {}

/** Answers requests on `port` out of a store that `open` opens. */
export function hostStore(port: HostPort, open: (store: ThreadStore) => Promise<Store>): void {
  let store: Promise<Store> = Promise.reject(new InvariantError('a thread was asked before it had a store'))
  store.catch(() => {})
  const transactions = new Map<number, OpenTransaction>()
  const underWay = new Set<Promise<void>>()

  // Answers of one turn travel together: those of one commit wake the other thread once.
  let answers: ThreadAnswer[] = []
  const answer = (one: ThreadAnswer) => {
    if (answers.push(one) > 1) return
    queueMicrotask(() => {
      port.postMessage(answers)
      answers = []
    })
  }

  const serve = async (number: number, request: ThreadRequest): Promise<unknown> => {
    if (request.kind === 'open') store = open(request.store)
    const opened = await store
    switch (request.kind) {
      case 'open':
        return undefined
      case 'call':
        return invoke(
          request.transaction === null ? opened : transaction(request.transaction).repositories,
          request.call,
        )
      case 'begin':
        transactions.set(number, await begin(opened))
        return number
      case 'end': {
        const { end, ended } = transaction(request.transaction)
        transactions.delete(request.transaction)
        end(request.outcome)
        return ended
      }
      case 'backup':
        return opened.backup(request.folder)
      case 'close':
        return opened.close()
    }
  }
  const transaction = (number: number) => present(transactions.get(number), `transaction ${number}`)

  port.on('message', ({ number, request }) => {
    const before = request.kind === 'close' ? Promise.all(underWay) : Promise.resolve()
    const served = before
      .then(() => serve(number, request))
      .then((result) => answer({ number, result }))
      .catch((error: unknown) => answer({ number, error: plainErrorOf(error) }))
      .finally(() => underWay.delete(served))
    underWay.add(served)
  })
}

function invoke(repositories: Repositories, { repository, method, args }: RepositoryCall): Promise<unknown> {
  const methods = repositories[repository] as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  return present(methods[method], `${repository}.${method}`)(...args)
}

/** Opens a transaction that stays open until it is told to end. */
function begin(store: Store): Promise<OpenTransaction> {
  return new Promise((resolve, reject) => {
    const ended = store.transaction(
      (repositories) =>
        new Promise<void>((commit, fail) => {
          const end = (outcome: 'commit' | 'rollback') => (outcome === 'commit' ? commit() : fail(new RollBack()))
          // Deferred, since `ended` has its value only after this has run.
          queueMicrotask(() => resolve({ repositories, end, ended: settled }))
        }),
    )
    const settled = ended.catch((error: unknown) => {
      if (!(error instanceof RollBack)) throw error
    })
    settled.catch(reject)
  })
}
