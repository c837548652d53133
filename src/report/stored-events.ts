import { z } from 'zod'
import { GateDecision, type RunEvent } from '../core/index.ts'
import { Brought } from '../gate/index.ts'
import { type Arm, EvidenceReport, type LearnEvent, TrafficSummary } from '../learn/index.ts'

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
const divergence = z.object({ ratio: figure, kl: figure })
const pass = z.object({ pass: z.int(), passes: z.int().nullable().catch(null), metrics, seconds: z.number() })

/** How a run ended: one over rollouts by its held-out rates, one over traffic by what became of its candidate. */
const summary = z.union([
  TrafficSummary,
  z.object({
    base: rate,
    primed: rate,
    control: rate.nullable(),
    learned: rate,
    seconds: z.number(),
    tokensSampled: z.number(),
    tokensTrained: z.number(),
    /** Why a candidate that the gate promotes does not serve everybody. */
    reason: z.string().optional(),
  }),
])

/** Everything that a run of either kind keeps of what it tells. */
type Told = Exclude<LearnEvent['type'], 'progress'>

/** What a report reads of each kind of event, as the store keeps it. A kind that has no line here does not compile. */
const kinds = {
  started: z.object({
    /** An update of a run over rollouts, a phase of one over traffic. */
    resumedAt: z.union([z.int(), z.string()]).nullable(),
    chosen: z
      .object({
        budget: z.object({ turns: z.int(), tokensPerTurn: z.int() }),
        families: z.int(),
        demonstrations: z.int(),
      })
      .nullable()
      .catch(null),
  }),
  found: z.object({
    severity: z.enum(['stop', 'warn']),
    code: z.string(),
    message: z.string(),
    hint: z.string(),
  }),
  'began-from': z.object({ adapter: z.string().nullable() }),
  agreed: z.object({ adapter: z.string(), tokens: z.int(), furthest: z.number() }),
  primed: pass,
  silent: z.object({ steps: z.int() }),
  looked: z.object({ pass: z.int(), success: z.number(), informative: z.number(), diagnosis }),
  recovered: z.object({
    update: z.int(),
    rollouts: rate,
    to: z.int(),
    scale: z.number(),
    recoveries: z.int(),
  }),
  families: z.object({
    update: z.int(),
    families: z.array(z.object({ family: z.string(), rate: z.number().nullable(), tasks: z.int(), dead: z.boolean() })),
  }),
  stopped: z.object({ update: z.int(), message: z.string(), diagnosis }),
  enough: z.object({ update: z.int(), message: z.string() }),
  updated: z.object({
    update: z.int(),
    updates: z.int(),
    rollouts: rate,
    reward: figure,
    metrics,
    tokensSampled: z.number(),
    tokensPerSecond: figure,
    seconds: z.number(),
  }),
  evaluated: z.object({
    arm,
    split: z.enum(['validation', 'holdout']),
    tier: z.string(),
    update: z.int(),
    rate,
  }),
  baseline: z.object({ name: z.string(), tier: z.string(), rate }),
  gathered: EvidenceReport,
  anchored: z.object({ sequences: z.int(), strength: z.number() }),
  stepped: z.object({ metrics, seconds: z.number() }),
  imitated: pass,
  preferred: pass,
  practised: z.object({ epoch: z.int(), epochs: z.int(), metrics, divergence, seconds: z.number() }),
  'out-of-bounds': z.object({ epoch: z.int(), divergence, goesOn: z.boolean().default(false) }),
  measured: z.object({ suite: z.string(), arm: z.enum(['serving', 'learned']), meanReward: figure, n: z.int() }),
  gated: z.object({ receipt: z.string(), decision: GateDecision, reasons: z.array(z.string()) }),
  brought: z.object(Brought.shape),
  tried: z.object({ canary: z.string(), share: z.number() }),
  released: z.object({ release: z.string() }),
  finished: z.object({ summary }),
} satisfies Record<Told, z.ZodObject>
type Kinds = typeof kinds

export type EventOf<T extends Told> = { readonly type: T } & Readonly<z.infer<Kinds[T]>>
export type StoredEvent = { readonly [T in Told]: EventOf<T> }[Told]

const isTold = (type: string): type is Told => Object.hasOwn(kinds, type)

/** The events that can be read, in order, and how many cannot: another version of Ratchet wrote them. */
export function readEvents(stored: readonly RunEvent[]): {
  readonly events: readonly StoredEvent[]
  readonly unread: number
} {
  const events: StoredEvent[] = []
  let unread = 0
  for (const { type, data } of stored) {
    const parsed = isTold(type) ? kinds[type].safeParse(data) : null
    if (parsed?.success) events.push({ ...parsed.data, type } as StoredEvent)
    else unread++
  }
  return { events, unread }
}

export function eventsOf<T extends Told>(events: readonly StoredEvent[], type: T): readonly EventOf<T>[] {
  return events.filter((event): event is StoredEvent & EventOf<T> => event.type === type)
}

/** One of each key, the last one told: a resumed run repeats what it had not committed. */
export function latest<T>(items: readonly T[], keyOf: (item: T) => string | number): readonly T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()]
}
