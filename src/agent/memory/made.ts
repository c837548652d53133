import { z } from 'zod'

/** What one Decision of a memory holds. */
export const MemoryMade = z.discriminatedUnion('did', [
  /** It was asked. */
  z.strictObject({
    did: z.literal('recall'),
    query: z.string(),
    /** What would be recalled, the best first, and what was: the others were left out by chance. */
    items: z.array(z.strictObject({ id: z.string(), similarity: z.number(), score: z.number(), shown: z.boolean() })),
    /** The chance that each was left out. */
    explore: z.number(),
  }),
  /** The program said what is worth remembering of the episode. */
  z.strictObject({ did: z.literal('note'), text: z.string() }),
])
export type MemoryMade = z.infer<typeof MemoryMade>

/** An item that a recall was about, as a Decision holds it. */
export type RecalledItem = Extract<MemoryMade, { did: 'recall' }>['items'][number]
