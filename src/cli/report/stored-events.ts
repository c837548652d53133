import { z } from 'zod'
import type { RunEvent } from '../../core/index.ts'
import type { Arm } from '../../learn/index.ts'

/** A metric that is not finite has no JSON: it reads as missing, so that a diverged run still has its report. */
const figure = z.number().nullable().catch(null)
const metrics = z.record(z.string(), figure)
const rate = z.strictObject({
  success: z.number().nullable(),
  n: z.int().nonnegative(),
  ci: z.tuple([z.number(), z.number()]),
  missing: z.int().nonnegative(),
})
const diagnosis = z.object({ message: z.string(), hint: z.string() })
const arm = z.enum(['base', 'serving', 'primed', 'learned', 'control'] satisfies Arm[])

/** The events of a learning run that a report reads, as the store keeps them. Others pass by. */
const StoredEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('started'),
    resumedAt: z.int().nullable(),
    chosen: z
      .object({
        budget: z.object({ turns: z.int(), tokensPerTurn: z.int() }),
        families: z.int(),
        demonstrations: z.int(),
      })
      .nullable()
      .catch(null),
  }),
  z.object({
    type: z.literal('found'),
    severity: z.enum(['stop', 'warn']),
    code: z.string(),
    message: z.string(),
    hint: z.string(),
  }),
  z.object({ type: z.literal('primed'), pass: z.int(), metrics, seconds: z.number() }),
  z.object({ type: z.literal('looked'), pass: z.int(), success: z.number(), informative: z.number(), diagnosis }),
  z.object({
    type: z.literal('recovered'),
    update: z.int(),
    rollouts: rate,
    to: z.int(),
    scale: z.number(),
    recoveries: z.int(),
  }),
  z.object({
    type: z.literal('families'),
    update: z.int(),
    families: z.array(z.object({ family: z.string(), rate: z.number().nullable(), tasks: z.int(), dead: z.boolean() })),
  }),
  z.object({ type: z.literal('stopped'), update: z.int(), message: z.string(), diagnosis }),
  z.object({
    type: z.literal('updated'),
    update: z.int(),
    updates: z.int(),
    rollouts: rate,
    reward: figure,
    metrics,
    tokensSampled: z.number(),
    tokensPerSecond: figure,
    seconds: z.number(),
  }),
  z.object({
    type: z.literal('evaluated'),
    arm,
    split: z.enum(['validation', 'holdout']),
    tier: z.string(),
    update: z.int(),
    rate,
  }),
  z.object({ type: z.literal('baseline'), name: z.string(), tier: z.string(), rate }),
  z.object({
    type: z.literal('finished'),
    summary: z.object({
      base: rate,
      primed: rate,
      control: rate.nullable(),
      learned: rate,
      seconds: z.number(),
      tokensSampled: z.number(),
      tokensTrained: z.number(),
    }),
  }),
])
export type StoredEvent = z.infer<typeof StoredEvent>
export type EventOf<T extends StoredEvent['type']> = Extract<StoredEvent, { type: T }>

const known = new Set<string>(StoredEvent.options.map(({ shape }) => shape.type.value))

/** The events that can be read, in order, and how many of the known kinds cannot. */
export function readEvents(stored: readonly RunEvent[]): {
  readonly events: readonly StoredEvent[]
  readonly unread: number
} {
  const events: StoredEvent[] = []
  let unread = 0
  for (const { type, data } of stored) {
    if (!known.has(type)) continue
    const parsed = StoredEvent.safeParse({ ...data, type })
    if (parsed.success) events.push(parsed.data)
    else unread++
  }
  return { events, unread }
}

export function eventsOf<T extends StoredEvent['type']>(
  events: readonly StoredEvent[],
  type: T,
): readonly EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type)
}

/** One of each key, the last one told: a resumed run repeats what it had not committed. */
export function latest<T>(items: readonly T[], keyOf: (item: T) => string | number): readonly T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}
