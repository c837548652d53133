import { z } from 'zod'
import { Code } from './fields.ts'
import { ItemFacts } from './rules.ts'

/** What can be looked up: customers and items by name. */
export const Table = z.strictObject({
  customers: z.record(z.string().min(1), z.strictObject({ account: Code })),
  items: z.record(z.string().min(1), ItemFacts.extend({ item: Code })),
})
export type Table = z.infer<typeof Table>

/** A row as the tool shows it, a fact a line, key before value; `null` for a name that is not there. Case does not matter. */
export function rowLines({ customers, items }: Table, name: string): string | null {
  const is = ([known]: readonly [string, unknown]) => known.toLowerCase() === name.toLowerCase()
  const customer = Object.entries(customers).find(is)?.[1]
  if (customer !== undefined) return `account ${customer.account}`
  const item = Object.entries(items).find(is)?.[1]
  return item === undefined ? null : `item ${item.item}\nsize ${item.size}\ncover ${item.cover}`
}

/** Reads lines of a key and a value, as a script does. */
export function readLines(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\n').map((line) => {
      const [key = ''] = line.split(' ', 1)
      return [key, line.slice(key.length + 1)]
    }),
  )
}
