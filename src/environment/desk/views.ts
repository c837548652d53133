import { z } from 'zod'
import { InvariantError } from '../../errors/index.ts'
import { type DeskBooks, Order } from './books.ts'

/** What `order` shows, a line each: `item`, `status`, `colour`, `packed` once something is, `cover`. */
const OrderView = Order.pick({ item: true, status: true, colour: true, cover: true }).extend({
  packed: Order.shape.packed.default(null),
})
export type OrderView = z.infer<typeof OrderView>

/** What `item` shows, a line each: `value`, and `stock` as a number of pieces or `none`. */
const ItemView = z.strictObject({
  value: z.enum(['low', 'high']),
  stock: z.union([z.literal('none'), z.stringFormat('pieces', /^[1-9]\d*$/)]),
})
export type ItemView = z.infer<typeof ItemView>

/** One fact a line, key before value: a small model copies what follows a word that it has read before. */
export function orderLines({ item, status, colour, packed, cover }: Order): string {
  const facts = { item, status, colour, ...(packed === null ? {} : { packed }), cover }
  return linesOf(facts)
}

/** Nothing for a name that is no item's. Letter case does not matter. */
export function itemLines({ items }: DeskBooks, name: string): string {
  const item = Object.entries(items).find(([known]) => isSame(known, name))?.[1]
  return item === undefined ? '' : linesOf({ value: item.value, stock: item.stock > 0 ? String(item.stock) : 'none' })
}

/** The customer's orders, a line each, item before id; nothing for a stranger. Letter case does not matter. */
export function customerLines({ orders }: DeskBooks, name: string): string {
  const own = Object.entries(orders).filter(([, { customer }]) => isSame(customer, name))
  return own.map(([id, { item }]) => `${item} ${id}`).join('\n')
}

/** @throws InvariantError when the text does not show an order. */
export function readOrderLines(text: string): OrderView {
  return readLines(OrderView, text)
}

/** @throws InvariantError when the text does not show an item. */
export function readItemLines(text: string): ItemView {
  return readLines(ItemView, text)
}

const isSame = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

const linesOf = (facts: Readonly<Record<string, string>>): string =>
  Object.entries(facts)
    .map(([key, value]) => `${key} ${value}`)
    .join('\n')

function readLines<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  const facts = text.split('\n').map((line) => {
    const [key = ''] = line.split(' ', 1)
    return [key, line.slice(key.length + 1)]
  })
  const checked = schema.safeParse(Object.fromEntries(facts))
  if (!checked.success) throw new InvariantError('the text is not what a tool of the order desk shows', checked.error)
  return checked.data
}
