import type { MemoryItem } from '../../agent/index.ts'

const none = { count: 0, mean: 0 } as const

/** An item as if no episode had recalled it yet. */
export function anew(item: MemoryItem): MemoryItem {
  const { barred: _, bare: _bare, ...free } = item
  return { ...free, utility: 0, with: none, without: none }
}
