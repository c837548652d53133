import { z } from 'zod'
import type { Fault, Hour, Pay, Post } from './fields.ts'

/** What the table says of an item that bears on a form. */
export const ItemFacts = z.strictObject({ size: z.enum(['small', 'large']), cover: z.enum(['yes', 'no']) })
export type ItemFacts = z.infer<typeof ItemFacts>

/** Orders of so many pieces or more are large ones. */
const many = 10

/** How an order is sent, by the size of the thing and the number of pieces. Nothing states this rule, nor the next two. */
export function postFor({ size }: ItemFacts, count: number): Post {
  if (size === 'small') return count < many ? 'letter' : 'parcel'
  return count < many ? 'van' : 'truck'
}

/** What a customer pays for a repair: noise and smoke come from inside, cracks and leaks from outside. */
export function payFor({ cover }: ItemFacts, fault: Fault): Pay {
  const isInside = fault === 'noise' || fault === 'smoke'
  if (cover === 'yes') return isInside ? 'free' : 'half'
  return isInside ? 'full' : 'none'
}

/** When a visit begins: large things are shown later. */
export function hourFor({ size }: ItemFacts, part: 'morning' | 'afternoon'): Hour {
  if (part === 'morning') return size === 'small' ? '8' : '10'
  return size === 'small' ? '14' : '16'
}
