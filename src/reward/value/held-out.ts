import { mean } from '../learned/accuracy.ts'
import { type Backup, wouldMake } from './bellman.ts'
import { byState, type Row } from './rows.ts'

/** What a value told of a state's moves beside what came of them. */
export interface StateEvidence {
  readonly subject: string
  readonly moves: number
  /** By how much the value's squared error lies below that of a constant that knows the mean of what came. */
  readonly gain: number
  /** Pairs of moves that came to different ends, and how many of them the value ranked right; equal values count half. */
  readonly pairs: number
  readonly right: number
}

/**
 * States that a value has not seen, in which several things were tried. What a move is worth is known where all moves after it
 * are those that the value would have made too: then its return is one of the value's own policy, whoever it was recorded
 * from. The constant is one of the state, so that knowing which task is easy is worth nothing.
 */
export function stateEvidence(
  rows: readonly Row[],
  told: ReadonlyMap<Row, number>,
  returns: ReadonlyMap<Row, number | null>,
  backup: Backup,
): readonly StateEvidence[] {
  const states = byState(rows)
  const follows = new Map<Row, boolean>()
  for (const row of rows) {
    const { next } = row
    const made = next === null || wouldMake(next, states.get(next.state) ?? [next], told, backup)
    follows.set(row, made && (next === null || follows.get(next) === true))
  }
  return [...states.values()].flatMap((here) => {
    const tried = here.flatMap((row) => {
      const truth = returns.get(row) ?? null
      return truth === null || follows.get(row) !== true ? [] : [{ row, truth, told: told.get(row) ?? 0 }]
    })
    const [first] = tried
    if (!first || new Set(tried.map(({ row }) => row.features.join())).size < 2) return []
    const [level, middle] = [mean(tried.map(({ truth }) => truth)), mean(tried.map((one) => one.told))]
    const gain = mean(tried.map(({ truth, told: q }) => (level - truth) ** 2 - (level + q - middle - truth) ** 2))
    return [{ subject: first.row.subject, moves: tried.length, gain, ...ranked(tried) }]
  })
}

function ranked(tried: readonly { readonly truth: number; readonly told: number }[]): {
  readonly pairs: number
  readonly right: number
} {
  let [pairs, right] = [0, 0]
  for (const [i, a] of tried.entries()) {
    for (const b of tried.slice(i + 1)) {
      if (a.truth === b.truth) continue
      pairs += 1
      right += a.told === b.told ? 0.5 : Number(a.told > b.told === a.truth > b.truth)
    }
  }
  return { pairs, right }
}
