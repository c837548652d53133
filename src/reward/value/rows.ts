import { groupBy, type Message } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import type { Experience } from './experience.ts'
import type { MoveFeatures } from './move-features.ts'

/** A move as numbers. */
export interface Row {
  readonly subject: string
  /** Names where it was made; moves of one state may be compared. */
  readonly state: string
  readonly features: readonly number[]
  readonly logprob: number | null
  readonly reward: number | null
  /** The move after it in its episode; `null` at the end. */
  readonly next: Row | null
}

/** Every move of the episodes, each after those that it leads to. */
export async function rowsOf(
  experiences: readonly Experience[],
  features: MoveFeatures,
  state: (read: readonly Message[]) => string,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const { subject, moves } of experiences) {
    const numbers = await features.of(moves)
    if (numbers.length !== moves.length) throw tooFew(subject, numbers.length, moves.length)
    let next: Row | null = null
    for (const [i, { read, logprob, reward }] of [...moves.entries()].toReversed()) {
      const named = JSON.stringify([subject, state(read)])
      next = { subject, state: named, features: numbers[i] ?? [], logprob, reward, next }
      rows.push(next)
    }
  }
  const size = rows[0]?.features.length ?? 0
  for (const { subject, features: row, logprob, reward } of rows) {
    if (row.length !== size || !row.every(Number.isFinite)) throw badFeatures(subject, row.length, size)
    if (![logprob ?? 0, reward ?? 0].every(Number.isFinite)) throw notFinite(subject)
  }
  return rows
}

/** All that was read, without the ids that differ from call to call. */
export const allRead = (read: readonly Message[]): string =>
  JSON.stringify(
    read.map((message) => [
      message.role,
      message.content,
      message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => [call.name, call.arguments]) : [],
    ]),
  )

/** The rows of each state. */
export const byState = (rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> =>
  groupBy(rows, ({ state }) => state)

/** What was earned from each move on: Gₜ = rₜ + γ·Gₜ₊₁; `null` where a reward on the way is not known. */
export function returnsOf(rows: readonly Row[], discount: number): ReadonlyMap<Row, number | null> {
  const found = new Map<Row, number | null>()
  for (const row of rows) {
    const later = row.next === null ? 0 : (found.get(row.next) ?? null)
    found.set(row, row.reward === null || later === null ? null : row.reward + discount * later)
  }
  return found
}

const badFeatures = (subject: string, has: number, size: number): RewardError =>
  new RewardError({
    code: 'reward/bad-features',
    message: `A move of "${subject}" has ${has} features; the first has ${size}, and all must be finite numbers.`,
    hint: 'Make the features of all moves with one function.',
  })

const tooFew = (subject: string, has: number, wanted: number): RewardError =>
  new RewardError({
    code: 'reward/bad-features',
    message: `"${subject}" has ${wanted} moves, and was given ${has} rows of features.`,
    hint: 'Give one row of numbers for each move.',
  })

const notFinite = (subject: string): RewardError =>
  new RewardError({
    code: 'reward/not-finite',
    message: `A move of "${subject}" has a reward or a log-probability that is no finite number.`,
    hint: 'Give `null` where it is not known.',
  })
