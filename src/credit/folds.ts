import { sha256, zeros } from '../core/index.ts'
import { ridge } from './ridge.ts'

/** The fold of each attempt: folds of equal size, at least two, in an order that hangs on the ids alone. */
export function foldsOf(ids: readonly string[], folds: number): readonly number[] {
  const count = Math.max(2, Math.min(folds, ids.length))
  const order = ids.map((id, i) => ({ key: sha256(id), i })).toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const fold = zeros(ids.length)
  for (const [rank, { i }] of order.entries()) fold[i] = rank % count
  return fold
}

/** A row of features, and what it is to foretell; `null` where that is not known. */
export interface Sample {
  readonly row: readonly number[]
  readonly target: number | null
}

/**
 * What a ridge regression foretells of each sample, fitted to samples of other attempts only (cross-fitting, Chernozhukov et
 * al. 2018): no attempt's own targets are in what is foretold of it.
 * @param samples those of each attempt.
 */
export function foretoldByOthers(
  ids: readonly string[],
  samples: readonly (readonly Sample[])[],
  { lambda, folds }: { readonly lambda: number; readonly folds: number },
): readonly (readonly number[])[] {
  const fold = foldsOf(ids, folds)
  const values = new Map<number, (row: readonly number[]) => number>()
  for (const held of new Set(fold)) {
    const rows: (readonly number[])[] = []
    const targets: number[] = []
    for (const { row, target } of samples.flatMap((own, i) => (fold[i] === held ? [] : own))) {
      if (target === null) continue
      rows.push(row)
      targets.push(target)
    }
    values.set(held, ridge(rows, targets, lambda))
  }
  return samples.map((own, i) => own.map(({ row }) => values.get(fold[i] ?? 0)?.(row) ?? 0))
}
