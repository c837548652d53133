import { sha256, zeros } from '../core/index.ts'

/** The fold of each attempt: folds of equal size, at least two, in an order that hangs on the ids alone. */
export function foldsOf(ids: readonly string[], folds: number): readonly number[] {
  const count = Math.max(2, Math.min(folds, ids.length))
  const order = ids.map((id, i) => ({ key: sha256(id), i })).toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const fold = zeros(ids.length)
  for (const [rank, { i }] of order.entries()) fold[i] = rank % count
  return fold
}
