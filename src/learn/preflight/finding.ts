import { z } from 'zod'
import { printable } from '../../core/index.ts'

/** Something about a job that keeps it from being learned, found before training. Kept among the run's events. */
export const Finding = z.strictObject({
  /** `stop`: training is of no use as it is. `warn`: it can go on, and will learn less or something else. */
  severity: z.enum(['stop', 'warn']),
  /** Stable and machine-readable: `learn/…` in kebab case. */
  code: z.string(),
  /** What was found: one line with its numbers and an example. */
  message: z.string(),
  /** What to do next: one sentence. */
  hint: z.string(),
  /** How many of the things that were looked at have it. */
  n: z.int().nonnegative(),
  /** How many things were looked at. */
  of: z.int().nonnegative(),
  /** One case, quoted and cut; `null` when there is none to show. */
  example: z.string().nullable(),
})
export type Finding = Readonly<z.infer<typeof Finding>>

/** What most cases have stops a job; what fewer have is a warning. */
export const gravity = (n: number, of: number): Finding['severity'] => (2 * n > of ? 'stop' : 'warn')

/** A count as the subject of a sentence: `3 of 16 demonstrations call`, `1 of 1 demonstration calls`. */
export function counted(
  n: number,
  of: number,
  noun: string,
  [one, many]: readonly [one: string, many: string],
): string {
  return `${n} of ${of} ${noun}${of === 1 ? '' : 's'} ${n === 1 ? one : many}`
}

/** Text from outside in quotes, on one line, cut to `limit` characters. */
export const quoted = (text: string, limit = 80): string => `"${printable(text, limit)}"`

/** Up to `limit` items, evenly spread over the list, in its order. */
export function spread<T>(items: readonly T[], limit: number): readonly T[] {
  if (items.length <= limit) return items
  return items.filter((_, i) => Math.floor((i * limit) / items.length) !== Math.floor(((i - 1) * limit) / items.length))
}
