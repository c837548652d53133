import type { Json } from '../core/index.ts'

/** The value as it is after a round trip through JSON text: what a store keeps, and what a receipt's id is the hash of. */
export function asStored(value: unknown): { readonly [key: string]: Json } {
  return JSON.parse(JSON.stringify(value)) as { readonly [key: string]: Json }
}
