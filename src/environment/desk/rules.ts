import { z } from 'zod'
import type { DeskAct } from './books.ts'
import type { ItemView, OrderView } from './views.ts'

/** What a customer's message is about. */
export const RequestKind = z.enum(['unwanted', 'wrong-colour', 'broken'])
export type RequestKind = z.infer<typeof RequestKind>

/** The company's rules. No prompt, description or reply states them: they are learned from what was shown and rewarded. */
export const DeskRule = z.enum([
  'new-and-cheap',
  'new-and-dear',
  'sent-and-cheap',
  'sent-and-dear',
  'colour-as-ordered',
  'not-covered',
  'in-stock',
  'out-of-stock',
])
export type DeskRule = z.infer<typeof DeskRule>

/** What each rule says to do. */
export const actBy: Readonly<Record<DeskRule, DeskAct>> = {
  'new-and-cheap': 'cancel',
  'new-and-dear': 'escalate',
  'sent-and-cheap': 'refund',
  'sent-and-dear': 'return',
  'colour-as-ordered': 'return',
  'not-covered': 'escalate',
  'in-stock': 'replace',
  'out-of-stock': 'refund',
}

/** The rule for a request, by what the tools show of its order and of the item ordered. */
export function ruleFor(kind: RequestKind, order: OrderView, item: ItemView): DeskRule {
  switch (kind) {
    case 'unwanted':
      if (order.status === 'new') return item.value === 'low' ? 'new-and-cheap' : 'new-and-dear'
      return item.value === 'low' ? 'sent-and-cheap' : 'sent-and-dear'
    case 'wrong-colour':
      return order.packed === order.colour ? 'colour-as-ordered' : madeGood(item)
    case 'broken':
      return order.cover === 'no' ? 'not-covered' : madeGood(item)
  }
}

const madeGood = ({ stock }: ItemView): DeskRule => (stock === 'none' ? 'out-of-stock' : 'in-stock')
