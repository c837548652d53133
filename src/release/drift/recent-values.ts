import { z } from 'zod'
import { present } from '../../errors/index.ts'

/** A change is looked for among so many of the latest values. */
const MOST = 1000

/** The latest values one by one, and what came before them. */
export const RecentValues = z.strictObject({
  older: z.strictObject({ count: z.int().nonnegative(), sum: z.number() }),
  latest: z.array(z.tuple([z.number(), z.number()]).readonly()).readonly(),
})
export type RecentValues = z.infer<typeof RecentValues>

export const NO_VALUES: RecentValues = { older: { count: 0, sum: 0 }, latest: [] }

/** From what to what values changed, and when. */
export interface Change {
  /** Mean and number before the change, in the unit of the values; no mean where there is nothing before. */
  readonly reference: { readonly mean: number | null; readonly sessions: number }
  readonly recent: { readonly mean: number; readonly sessions: number }
  /** When the first session after the change was: an estimate. Milliseconds since the epoch. */
  readonly since: number
}

/** @param at when it was. */
export function withValue({ older, latest }: RecentValues, value: number, at: number): RecentValues {
  const [first] = latest
  if (first === undefined || latest.length < MOST) return { older, latest: [...latest, [value, at]] }
  return {
    older: { count: older.count + 1, sum: older.sum + first[0] },
    latest: [...latest.slice(1), [value, at]],
  }
}

/**
 * Where the values split best into before and after: the split that explains most of their variance (least squares),
 * among those after which the mean is higher, or lower. There must be a value.
 */
export function changeIn({ older, latest }: RecentValues, direction: 'rise' | 'drop'): Change {
  const all = older.count + latest.length
  const total = latest.reduce((sum, [value]) => sum + value, older.sum)
  let [count, sum] = [older.count, older.sum]
  let best = { count: older.count, sum: older.sum, explained: 0 }
  for (const [value] of latest) {
    const after = all - count
    const rise = count === 0 ? 0 : (total - sum) / after - sum / count
    const explained = (direction === 'rise') === rise > 0 ? ((count * after) / all) * rise ** 2 : 0
    if (explained > best.explained) best = { count, sum, explained }
    count++
    sum += value
  }
  const recent = all - best.count
  return {
    reference: { mean: best.count === 0 ? null : best.sum / best.count, sessions: best.count },
    recent: { mean: (total - best.sum) / recent, sessions: recent },
    since: present(latest[best.count - older.count], 'the first value after the change')[1],
  }
}
