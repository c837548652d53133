import { innerProduct } from '../../../agent/index.ts'
import type { Rng } from '../../../core/index.ts'
import type { Pairs } from './train-encoder.ts'

/** Vectors of two windows of each of several partners, in the same order. */
export type VectorPairs = Pairs<readonly number[]>

/** How often the match is drawn anew, to know what chance comes to. */
const permutations = 999

/**
 * How well windows tell partners apart: how often a partner's other window is more like the first than another partner's is, equal
 * ones half; the mean over partners, in [0, 1]. 0.5 is chance, 1 is always.
 * @param parts partners that are compared with each other: those of one part were encoded alike. Two in each, at least.
 */
export const shareToldApart = (parts: readonly VectorPairs[]): number => matched(parts.map(sharesOf), asTheyAre)

/**
 * {@link shareToldApart}, and how likely so much is by chance. Where windows tell nothing of who acted, each match of second windows to first ones is as likely, whatever made the vectors:
 * `p` is the share of matches, drawn within each part, that come to as much (a permutation test; Phipson & Smyth 2010). It is
 * exact at any number of partners.
 */
export function toldApart(parts: readonly VectorPairs[], rng: Rng): { readonly share: number; readonly p: number } {
  const shares = parts.map(sharesOf)
  const share = matched(shares, asTheyAre)
  let asGood = 0
  // Sums in another order differ in their last digits.
  for (let k = 0; k < permutations; k++)
    if (matched(shares, (n) => rng.shuffle(asTheyAre(n))) >= share - 1e-12) asGood++
  return { share, p: (1 + asGood) / (1 + permutations) }
}

type Shares = readonly (readonly number[])[]

/** The mean over partners where second windows are matched to first ones in this order. */
function matched(shares: readonly Shares[], order: (n: number) => readonly number[]): number {
  const partners = shares.reduce((sum, { length }) => sum + length, 0)
  return shares.reduce((sum, rows) => sum + along(rows, order(rows.length)), 0) / partners
}

const asTheyAre = (n: number) => Array.from({ length: n }, (_, i) => i)

const along = (rows: Shares, order: readonly number[]) =>
  rows.reduce((sum, row, i) => sum + (row[order[i] ?? 0] ?? 0), 0)

/** For the first window of i and the second of j: the share of the other second windows that are less like it, ties half. */
function sharesOf({ first, second }: VectorPairs): Shares {
  return first.map((one) => {
    const likeness = second.map((other) => innerProduct(one, other))
    return likeness.map((own) => {
      const below = likeness.reduce((sum, other) => sum + (other < own ? 1 : other === own ? 0.5 : 0), -0.5)
      return below / (likeness.length - 1)
    })
  })
}
