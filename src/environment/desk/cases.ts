import type { Rng } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { type DeskBooks, Colour, type Item, type Order } from './books.ts'
import type { Names } from './names.ts'
import type { RequestKind } from './rules.ts'

/** A kind of request, with the facts that decide what is right; the others are drawn. */
export interface Case {
  readonly kind: RequestKind
  readonly status?: 'new'
  readonly value?: Item['value']
  readonly asOrdered?: boolean
  readonly cover?: Order['cover']
  readonly inStock?: boolean
}

const unwanted: readonly Case[] = [
  { kind: 'unwanted', status: 'new', value: 'low' },
  { kind: 'unwanted', status: 'new', value: 'high' },
  { kind: 'unwanted', value: 'low' },
  { kind: 'unwanted', value: 'high' },
]
const colourAsOrdered: Case = { kind: 'wrong-colour', asOrdered: true }
const otherColour: Case = { kind: 'wrong-colour', asOrdered: false, inStock: true }
const otherColourSoldOut: Case = { kind: 'wrong-colour', asOrdered: false, inStock: false }
const notCovered: Case = { kind: 'broken', cover: 'no' }
const broken: Case = { kind: 'broken', cover: 'yes', inStock: true }
const brokenSoldOut: Case = { kind: 'broken', cover: 'yes', inStock: false }

/**
 * The cases in the shares in which tasks have them. No act is right in more than 7 of 24, and whoever ignores what `order`
 * shows, or what `item` shows, is right in 14 of 24 at most. Each third is nearly as balanced as the whole.
 */
export const deck: readonly Case[] = [
  [...unwanted, colourAsOrdered, otherColour, notCovered, brokenSoldOut],
  [...unwanted, otherColourSoldOut, colourAsOrdered, broken, notCovered],
  [...unwanted, otherColour, otherColourSoldOut, brokenSoldOut, broken],
].flat()

/** A case with its world: the order that it is about, another of the same customer, and one of somebody else. */
export interface Drawn {
  readonly id: string
  readonly order: Order
  readonly books: DeskBooks
}

/** Draws a world in which `wanted` holds. What decides nothing is left to chance, so that it gives nothing away. */
export function drawCase(wanted: Case, names: Names, random: Rng): Drawn {
  const ids = distinct(names.orders, 3, random)
  const items = distinct(names.items, 3, random)
  const [customer, stranger] = distinct(names.customers, 2, random)
  const orders = ids.map((id, at): [string, Order] => [
    id,
    drawOrder(
      present(at < 2 ? customer : stranger, 'a customer'),
      present(items[at], 'an item'),
      random,
      at === 0 ? wanted : {},
    ),
  ])
  const [id, order] = present(orders[0], 'the order')
  return {
    id,
    order,
    books: {
      orders: Object.fromEntries(orders),
      items: Object.fromEntries(items.map((item, at) => [item, drawItem(random, at === 0 ? wanted : {})])),
    },
  }
}

function drawOrder(customer: string, item: string, random: Rng, wanted: Partial<Case>): Order {
  const [colour, other] = distinct(Colour.options, 2, random)
  const isSame = wanted.asOrdered ?? coin(random)
  const asked = present(colour, 'a colour')
  const status = wanted.status ?? (wanted.kind === undefined && coin(random) ? 'new' : 'sent')
  return {
    customer,
    item,
    status,
    colour: asked,
    packed: status === 'new' ? null : isSame ? asked : present(other, 'a colour'),
    cover: wanted.cover ?? (coin(random) ? 'yes' : 'no'),
    refunds: 0,
    replacements: 0,
    returns: 0,
    escalations: 0,
  }
}

function drawItem(random: Rng, wanted: Partial<Case>): Item {
  const value = wanted.value ?? (coin(random) ? 'low' : 'high')
  return { value, stock: (wanted.inStock ?? coin(random)) ? 1 + random.int(9) : 0 }
}

const coin = (random: Rng): boolean => random.next() < 0.5

/** Draws `count` different ones. */
function distinct<T>(all: readonly T[], count: number, random: Rng): readonly T[] {
  const drawn = new Set<T>()
  while (drawn.size < Math.min(count, all.length)) drawn.add(present(all[random.int(all.length)], 'a name'))
  return [...drawn]
}
