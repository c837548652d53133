import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { DeskAct, DeskBooks, type Order, carryOut } from './books.ts'

const order: Order = {
  customer: 'Ann Hill',
  item: 'tin lamp',
  status: 'sent',
  colour: 'red',
  packed: 'blue',
  cover: 'yes',
  refunds: 0,
  replacements: 0,
  returns: 0,
  escalations: 0,
}
const books = DeskBooks.parse({
  orders: { 417: order, 230: { ...order, customer: 'Tom Lee' } },
  items: { 'tin lamp': { value: 'low', stock: 1 } },
})

it.each([
  ['cancel', { status: 'cancelled', refunds: 1 }, 2],
  ['refund', { refunds: 1 }, 1],
  ['replace', { replacements: 1 }, 0],
  ['return', { returns: 1 }, 1],
  ['escalate', { escalations: 1 }, 1],
] as const)('%s is written into one order, and the shelf', (act, change, stock) => {
  expect(carryOut(act, '417', books)).toEqual({
    orders: { ...books.orders, 417: { ...order, ...change } },
    items: { 'tin lamp': { value: 'low', stock } },
  })
})

it('owes what is not on the shelf', () => {
  const twice = carryOut('replace', '417', carryOut('replace', '417', books))
  expect(twice.items['tin lamp']).toEqual({ value: 'low', stock: -1 })
  expect(DeskBooks.safeParse(twice).success).toBe(true)
})

it('leaves other books after any other acts than the one, none included', () => {
  const acts = fc.array(fc.record({ act: fc.constantFrom(...DeskAct.options), id: fc.constantFrom('417', '230') }), {
    maxLength: 4,
  })
  fc.assert(
    fc.property(fc.constantFrom(...DeskAct.options), acts, (right, done) => {
      const only = done.length === 1 && done.at(0)!.act === right && done.at(0)!.id === '417'
      const left = done.reduce((now, { act, id }) => carryOut(act, id, now), books)
      const same = JSON.stringify(left) === JSON.stringify(carryOut(right, '417', books))
      expect(same).toBe(only)
    }),
    { numRuns: 300 },
  )
})

it.each(['999', '__proto__', 'toString'])('knows no order %s', (id) => {
  expect(carryOut('refund', id, books)).toBe(books)
})
