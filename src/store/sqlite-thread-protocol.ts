import type { Repositories } from '../core/index.ts'
import type { PlainError } from './sqlite-thread-error.ts'

/** What a thread opens: a store's file, to write it or to read it. */
export interface ThreadStore {
  readonly path: string
  readonly readonly: boolean
}

/** One method of one repository with its arguments, which travel by structured clone. */
export interface RepositoryCall {
  readonly repository: keyof Repositories
  readonly method: string
  readonly args: readonly unknown[]
}

/** What a thread is asked to do; each request is answered once, under its number. */
export type ThreadRequest =
  | { readonly kind: 'open'; readonly store: ThreadStore }
  /** In the transaction that a `begin` answered, or (`null`) in none. */
  | { readonly kind: 'call'; readonly transaction: number | null; readonly call: RepositoryCall }
  /** Answered when the transaction is open, with its number. */
  | { readonly kind: 'begin' }
  /** Answered when the transaction has ended so, or failed with the first failure of its writes. */
  | { readonly kind: 'end'; readonly transaction: number; readonly outcome: 'commit' | 'rollback' }
  | { readonly kind: 'backup'; readonly folder: string }
  /** Answered when all that was asked for before has been done and the store is closed. */
  | { readonly kind: 'close' }

/** To a thread. */
export interface NumberedRequest {
  readonly number: number
  readonly request: ThreadRequest
}

/** From a thread. */
export type ThreadAnswer =
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly error: PlainError }
