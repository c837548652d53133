import { z } from 'zod'
import { readOnce } from '../read-once.ts'
import { MemoryItem, memoryBounds, mostArchives } from './item.ts'

/** Weights of a selector over {@link import('./rank.ts').features}: how likely an item is to help. */
export const Selector = z.strictObject({ weights: z.array(z.number()) })
export type Selector = z.infer<typeof Selector>

const Shape = z.strictObject({
  /** Items of one recall, at most. */
  recall: z.int().min(1).max(32),
  /** Cosine below which nothing is recalled. */
  floor: z.number().min(-1).max(1),
  /** Trust below which an item is kept and never recalled. */
  minTrust: z.number().min(0).max(1),
  /** The chance that an item which would be recalled is left out of an episode: what it brings shows by that. */
  explore: z.number().min(0).max(0.5),
  /** The chance that an episode recalls nothing at all. Absent: 0. */
  withhold: z.number().min(0).max(1).exactOptional(),
  /** Who made the vectors. */
  embedder: z.strictObject({ name: z.string().min(1), dimensions: z.int().positive() }),
  /** The archives that it recalls from beside its items, by their addresses. An item that stands in both counts as it is here. */
  archives: z
    .array(z.string().regex(/^[0-9a-f]{64}$/))
    .min(1)
    .max(mostArchives)
    .exactOptional(),
  /** Archived items that are recalled no more, by their ids. */
  refused: z.array(MemoryItem.shape.id).min(1).max(memoryBounds.items).exactOptional(),
  items: z.array(MemoryItem).max(memoryBounds.items),
  selector: Selector.nullable(),
})
/** The value of a `memory` Parameter. */
export type MemoryValue = z.infer<typeof Shape>

const bytesOf = ({ cue, text, vector = '' }: MemoryItem) =>
  Buffer.byteLength(cue) + Buffer.byteLength(text) + vector.length

const Bounded = Shape.superRefine(({ items, archives = [] }, context) => {
  const bytes = items.reduce((sum, item) => sum + bytesOf(item), 0)
  if (bytes > memoryBounds.bytes) {
    context.addIssue({ code: 'custom', message: `${bytes} bytes of items; at most ${memoryBounds.bytes}` })
  }
  if (new Set(archives).size < archives.length) {
    context.addIssue({ code: 'custom', message: 'one archive is named twice' })
  }
  if (new Set(items.map(({ id }) => id)).size < items.length) {
    context.addIssue({ code: 'custom', message: 'two items have one id' })
  }
})

/** Reads a value; one that was read before is given again as it was. */
export const MemoryValue: z.ZodType<MemoryValue> = readOnce(Bounded)
