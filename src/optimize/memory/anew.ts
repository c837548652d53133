import type { MemoryItem } from '../../agent/index.ts'

const none = { count: 0, mean: 0 } as const

/** An item without what episodes said of it. Its utility is 0: what it began with, as what people gave it, is not kept. */
export function anew(item: MemoryItem): MemoryItem {
  const { barred: _, bare: _bare, ...free } = item
  return { ...free, utility: 0, with: none, without: none }
}
