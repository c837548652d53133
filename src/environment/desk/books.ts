import { z } from 'zod'
import { entry } from '../entry.ts'

/** What the desk can do about one order. */
export const DeskAct = z.enum(['cancel', 'refund', 'replace', 'return', 'escalate'])
export type DeskAct = z.infer<typeof DeskAct>

/** Colours that goods come in. */
export const Colour = z.enum(['red', 'green', 'blue', 'black', 'white', 'pink', 'gold'])
export type Colour = z.infer<typeof Colour>

const count = z.int().nonnegative()

/** One order as the company holds it. */
export const Order = z.strictObject({
  customer: z.string().min(1),
  /** Name of the one thing ordered. */
  item: z.string().min(1),
  /** `new` until it leaves the house. */
  status: z.enum(['new', 'sent', 'cancelled']),
  /** The colour that was asked for. */
  colour: Colour,
  /** The colour that lay in the box; `null` while nothing is packed. */
  packed: Colour.nullable(),
  /** Whether the guarantee covers damage. */
  cover: z.enum(['yes', 'no']),
  /** How often the price was paid back. */
  refunds: count,
  /** How often the thing was sent once more. */
  replacements: count,
  /** How often the customer was told to send it back. */
  returns: count,
  /** How often it was handed to a person. */
  escalations: count,
})
export type Order = z.infer<typeof Order>

/** One thing that the company sells. */
export const Item = z.strictObject({
  /** Price class. */
  value: z.enum(['low', 'high']),
  /** Pieces on the shelf; below 0, how many are owed. */
  stock: z.int(),
})
export type Item = z.infer<typeof Item>

/** All that the company knows: orders by id, items by name. Never changed in place, so that copies may share them. */
export const DeskBooks = z
  .strictObject({ orders: z.record(z.string(), Order), items: z.record(z.string(), Item) })
  .refine(
    ({ orders, items }) => Object.values(orders).every(({ item }) => Object.hasOwn(items, item)),
    'every ordered item must be among the items',
  )
export type DeskBooks = z.infer<typeof DeskBooks>

/**
 * The books after an act on an order, or the same books where there is no such order. Nothing is refused: the wrong act,
 * and the right one done twice, stay in the books. No two different acts leave the same books.
 */
export function carryOut(act: DeskAct, id: string, books: DeskBooks): DeskBooks {
  const order = entry(books.orders, id)
  const item = order && entry(books.items, order.item)
  if (order === undefined || item === undefined) return books
  const write = (changed: Partial<Order>, pieces = 0): DeskBooks => ({
    orders: { ...books.orders, [id]: { ...order, ...changed } },
    items: { ...books.items, [order.item]: { ...item, stock: item.stock + pieces } },
  })
  switch (act) {
    case 'cancel':
      return write({ status: 'cancelled', refunds: order.refunds + 1 }, 1)
    case 'refund':
      return write({ refunds: order.refunds + 1 })
    case 'replace':
      return write({ replacements: order.replacements + 1 }, -1)
    case 'return':
      return write({ returns: order.returns + 1 })
    case 'escalate':
      return write({ escalations: order.escalations + 1 })
  }
}
