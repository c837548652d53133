import { expect, it } from 'vitest'
import { actBy, ruleFor } from './rules.ts'
import type { ItemView, OrderView } from './views.ts'

/** What decides, in the order of the columns; `-` where it does not matter. */
const table = `
  unwanted     new  -    -   low  -    cancel
  unwanted     new  -    -   high -    escalate
  unwanted     sent -    -   low  -    refund
  unwanted     sent -    -   high -    return
  wrong-colour sent red  -   -    -    return
  wrong-colour sent blue -   -    3    replace
  wrong-colour sent blue -   -    none refund
  broken       sent -    no  -    -    escalate
  broken       sent -    yes -    3    replace
  broken       sent -    yes -    none refund
`
const rows = table
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))

/** Every way to fill in what does not matter. */
function filled(column: string, all: readonly string[]): readonly string[] {
  return column === '-' ? all : [column]
}

it.each(rows)(
  '%s: %s, packed %s, cover %s, value %s, stock %s → %s',
  (kind, status, packed, cover, value, stock, act) => {
    for (const inBox of filled(packed!, ['red', 'blue']))
      for (const covered of filled(cover!, ['yes', 'no']))
        for (const price of filled(value!, ['low', 'high']))
          for (const left of filled(stock!, ['1', '9', 'none'])) {
            const order = { item: 'tin lamp', status, colour: 'red', packed: inBox, cover: covered } as OrderView
            const item = { value: price, stock: left } as ItemView
            expect(actBy[ruleFor(kind as 'broken', order, item)]).toBe(act)
          }
  },
)
