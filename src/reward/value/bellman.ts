import { linear, ridgeOver } from '../../core/index.ts'
import { mean } from '../learned/accuracy.ts'
import { type ActionValue, begun } from './action-value.ts'
import { byState, returnsOf, type Row } from './rows.ts'

/** Which move of the next state a move is worth as much as. */
export type Backup = 'best' | 'likeliest' | 'return'

/** How a value is fitted. */
export interface Fitting {
  readonly backup: Backup
  readonly discount: number
  readonly lambda: number
  readonly prior: 'logprobs' | 'none'
}

type Values = ReadonlyMap<Row, number>

const mostSweeps = 200

/**
 * Fitted Q iteration (Ernst et al. 2005): Q(s, a) ← r + γ·Q(s', a'), by ridge regression on all moves at once, until nothing
 * changes. a' is a move that was recorded in s', never an imagined one.
 * @returns `null` where no reward is known.
 */
export function fitted(
  rows: readonly Row[],
  { backup, discount, lambda, prior }: Fitting,
): Omit<ActionValue, 'features'> | null {
  const returns = returnsOf(rows, discount)
  const states = byState(rows)
  const logprob = prior === 'none' ? { slope: 0, middle: 0 } : slopeOf(states, returns)
  const known = rows.filter((row) => (backup === 'return' ? returns.get(row) : row.reward) !== null)
  if (known.length === 0) return null
  const fit = ridgeOver(
    known.map(({ features }) => features),
    lambda,
  )
  let at: Values = new Map(rows.map((row) => [row, begun(logprob, row.logprob)]))
  for (let sweep = 1; ; sweep++) {
    const targets = known.map((row) =>
      backup === 'return'
        ? (returns.get(row) ?? 0)
        : (row.reward ?? 0) + discount * worthAfter(row, states, at, backup),
    )
    const line = fit(targets.map((target, i) => target - begun(logprob, known[i]?.logprob ?? null)))
    const next = new Map(rows.map((row) => [row, linear(line, row.features) + begun(logprob, row.logprob)]))
    const moved = rows.reduce((most, row) => Math.max(most, Math.abs((next.get(row) ?? 0) - (at.get(row) ?? 0))), 0)
    at = next
    if (moved < 1e-9 || sweep === mostSweeps) {
      return { kind: 'action-value', ...line, centre: [...line.centre], weights: [...line.weights], logprob }
    }
  }
}

function worthAfter(
  { next }: Row,
  states: ReadonlyMap<string, readonly Row[]>,
  at: Values,
  backup: Exclude<Backup, 'return'>,
): number {
  if (next === null) return 0
  const here = states.get(next.state) ?? [next]
  if (backup === 'best') return Math.max(...here.map((row) => at.get(row) ?? 0))
  const likeliest = mostLikely(here)
  return at.get(likeliest ?? next) ?? 0
}

/** The move with the highest log-probability; `null` where none is known. */
function mostLikely(rows: readonly Row[]): Row | null {
  let most: Row | null = null
  for (const row of rows) {
    if (row.logprob !== null && row.logprob > (most?.logprob ?? Number.NEGATIVE_INFINITY)) most = row
  }
  return most
}

/** Whether a value that is backed up so would have made this move, where these were made. */
export function wouldMake(row: Row, here: readonly Row[], at: Values, backup: Backup): boolean {
  if (backup === 'return') return true
  if (backup === 'likeliest') return row.logprob === null || row.logprob >= (mostLikely(here)?.logprob ?? 0)
  return (at.get(row) ?? 0) >= Math.max(...here.map((one) => at.get(one) ?? 0)) - 1e-9
}

/**
 * What a value begins as: as much more for a likelier move as likelier moves of one state earned more. Where likelier ones
 * earned less, the log-probability tells nothing.
 */
function slopeOf(
  states: ReadonlyMap<string, readonly Row[]>,
  returns: ReadonlyMap<Row, number | null>,
): ActionValue['logprob'] {
  let [together, spread] = [0, 0]
  const all: number[] = []
  for (const here of states.values()) {
    const told = here.flatMap((row) => {
      const earned = returns.get(row) ?? null
      return row.logprob === null || earned === null ? [] : [{ logprob: row.logprob, earned }]
    })
    all.push(...told.map(({ logprob }) => logprob))
    const [middle, level] = [mean(told.map(({ logprob }) => logprob)), mean(told.map(({ earned }) => earned))]
    for (const { logprob, earned } of told) {
      together += (logprob - middle) * (earned - level)
      spread += (logprob - middle) ** 2
    }
  }
  return { slope: spread > 0 ? Math.max(0, together / spread) : 0, middle: all.length === 0 ? 0 : mean(all) }
}
