import { z } from 'zod'
import { sha256, Tenant } from '../../core/index.ts'
import { itemTooLarge } from './errors.ts'

/** Bounds that no memory passes. Bytes are those of UTF-8. */
export const memoryBounds = {
  cueBytes: 2_048,
  textBytes: 8_192,
  /** Trajectories and persons that one item may come from. */
  lineage: 512,
  items: 100_000,
  /** Cues, texts and vectors of all items together. */
  bytes: 128 * 1_024 * 1_024,
} as const

/** Archives that one memory recalls from, at most. */
export const mostArchives = 16

/** How often something was seen, and what it earned on average; 0 where it was never seen. */
export const Tally = z.strictObject({ count: z.int().nonnegative(), mean: z.number() })
export type Tally = z.infer<typeof Tally>

const boundedText = (most: number) =>
  z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= most, { error: `more than ${most} bytes`, abort: true })

/** One thing that is remembered. What it says of itself counts for nothing: all but `cue` and `text` is set by who wrote it down. */
export const MemoryItem = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{16}$/),
  /**
   * - `case`: what was done about one thing, and how it ended.
   * - `exemplar`: a whole episode, step by step, without its particulars.
   * - `insight`: what holds of many episodes, and was tested on others than it was found in.
   */
  type: z.enum(['case', 'exemplar', 'insight']),
  /** What it is found by. */
  cue: boundedText(memoryBounds.cueBytes),
  /** What is recalled. */
  text: boundedText(memoryBounds.textBytes),
  /** Whether what it tells of went well. */
  worked: z.boolean(),
  /**
   * Everything that it was made from: ids of trajectories, and what stands for the persons that these were about
   * (`subjectMark`). Erasing any of them erases the item.
   */
  derivedFrom: z.array(z.string().min(1)).max(memoryBounds.lineage),
  /** Whose data it is: it reaches nobody else. `tenant: null` is nobody's, from practice; `about: null` is everybody's of the tenant. */
  owner: z.strictObject({ tenant: Tenant.nullable(), about: z.string().nullable() }),
  /** Where it came from, so that one source does not fill a recall: a task, a person, a session. */
  source: z.string(),
  /** In [0, 1]: the least of what it came from. */
  trust: z.number().min(0).max(1),
  /** When it began to hold, in milliseconds since the epoch, and when it ceased to. */
  from: z.number(),
  until: z.number().nullable(),
  /** The item that says otherwise since. */
  supersededBy: z.string().nullable(),
  /** When it is forgotten, in milliseconds since the epoch; `null`: not by age. */
  expires: z.number().nullable(),
  /** How much better than expected episodes went that recalled it, in the unit of what it was told they earned. */
  utility: z.number(),
  /** Episodes in which it was recalled, and in which it would have been and was left out by chance. */
  with: Tally,
  without: Tally,
  /** Of `without`, those that were shown no other item either: another one could do the same harm. Absent: none. */
  bare: Tally.exactOptional(),
  /** Since when it is recalled no more for the harm that it does, in milliseconds since the epoch. */
  barred: z.number().exactOptional(),
  /** What one recall of it costs: tokens to read, an estimate. What earlier versions wrote beside them is not read. */
  rent: z.object({ tokens: z.int().nonnegative() }),
  /** Its cue's vector where that is costly to make: signed bytes in base64, see `vectorText`. */
  vector: z.string().exactOptional(),
})
export type MemoryItem = z.infer<typeof MemoryItem>

/** What an item begins with. */
export type NewItem = Pick<
  MemoryItem,
  'type' | 'cue' | 'text' | 'worked' | 'derivedFrom' | 'owner' | 'source' | 'trust' | 'from' | 'expires' | 'utility'
>

/**
 * Makes an item. Equal texts for equal cues of one owner are one item.
 * @throws MemoryError for a cue or a text above {@link memoryBounds}.
 */
export function newItem(item: NewItem): MemoryItem {
  const { type, cue, text, owner } = item
  for (const [what, value, most] of [
    ['cue', cue, memoryBounds.cueBytes],
    ['text', text, memoryBounds.textBytes],
  ] as const) {
    const bytes = Buffer.byteLength(value)
    if (bytes > most) throw itemTooLarge(what, bytes, most)
  }
  return MemoryItem.parse({
    ...item,
    id: sha256(JSON.stringify([type, cue, text, owner.tenant, owner.about])).slice(0, 16),
    until: null,
    supersededBy: null,
    with: { count: 0, mean: 0 },
    without: { count: 0, mean: 0 },
    rent: { tokens: Math.ceil(text.length / charactersPerToken) },
  })
}

/** Of English text, about. */
const charactersPerToken = 4

/** A tally with one more. */
export const tallied = ({ count, mean }: Tally, value: number): Tally => ({
  count: count + 1,
  mean: mean + (value - mean) / (count + 1),
})

/** Whether an item may be recalled at a moment, whoever asks. */
export const holdsAt = ({ from, until, expires }: MemoryItem, at: number): boolean =>
  from <= at && (until === null || at < until) && (expires === null || at < expires)
