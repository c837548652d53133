import type { MemoryItem } from './item.ts'

/** An item near what was asked. */
export interface Found {
  readonly item: MemoryItem
  readonly similarity: number
}
