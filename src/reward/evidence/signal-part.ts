import { z } from 'zod'
import { EditedAnswer, type Json, parseInput, type Signal, SignalSource, type Trajectory } from '../../core/index.ts'
import type { RewardPart } from '../part.ts'
import { editExtent } from '../text/index.ts'
import { Trust } from '../trust.ts'
import { ownTurns } from '../turns.ts'

/** How the signals of one name are read. */
export const SignalReading = z.strictObject({
  /** Only signals of this source count: an end user cannot report an outcome. */
  source: SignalSource.default('user'),
  /** What certain values are worth, by their text: `{ "refunded": -0.5 }`. `true` is 1 and `false` -1 unless it is said. */
  values: z.record(z.string(), z.number().min(-1).max(1)).default({}),
  /** Numbers that `values` does not name: which is worth -1 and which 1; those between on the line, others cut off. */
  range: z
    .tuple([z.number(), z.number()])
    .refine(([worst, best]) => worst !== best, 'the worst and the best must differ')
    .default([-1, 1]),
  /** What the part is multiplied by. */
  weight: z.number().positive().default(1),
  /** Whether an episode without it has no reward, whatever else is known of it. */
  required: z.boolean().default(false),
})
export type SignalReading = z.infer<typeof SignalReading>

/**
 * A part from what is reported under one name, in [-1, 1] times its weight; `null` where nobody reported it.
 * The last that a reporter says of one thing (the episode, or one message) counts; what one reporter says of several
 * things is averaged, and so are reporters: who says it ten times has said it once. Nor does it help to say it under ten
 * names: what all say whom one key names is averaged first, unless the key is trusted. An edited answer is worth minus how
 * much of what it says was changed; other values than those that are read say nothing.
 * @param trusted keys whose names are people, each of whom counts as one; and single reporters, as `key:name`.
 */
export function signal(
  name: string,
  options: z.input<typeof SignalReading> = {},
  trusted: readonly string[] = [],
): RewardPart {
  const {
    source,
    values: given,
    range,
    weight,
    required,
  } = parseInput(SignalReading, options, `The reading of the signal "${name}"`)
  const values = { true: 1, false: -1, ...given }
  const worths = Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const trust = new Trust(trusted)
  return {
    identity: `signal:${JSON.stringify([name, source, worths, range, weight, { voices: trusted.toSorted(), edits: 2 }])}`,
    ...(required ? {} : { evidence: 'told' as const }),
    score(trajectory, signals) {
      const said = lastWords(signals.filter((one) => one.name === name && one.source === source))
      const read = said.flatMap((one) => {
        const worth = worthOf(one, trajectory, { values, range })
        return worth === null ? [] : [{ reporter: one.reporter, worth }]
      })
      const reporters = meansBy(read, ({ reporter }) => reporter)
      const voices = meansBy(reporters, ({ reporter }) => trust.voiceOf(reporter))
      return voices.length === 0 ? null : weight * mean(voices.map(({ worth }) => worth))
    },
  }
}

/** {@link signal} for what the operator's own systems know later, from 0 (failed) to 1 (reached). */
export function outcome(name: string, options: z.input<typeof SignalReading> = {}): RewardPart {
  return signal(name, { source: 'outcome', range: [0, 1], ...options })
}

/**
 * Whether words reported under a name can be no reward: some reading takes signals of this name and source, and none gives
 * the words a worth. Numbers, yes and no, and edits always have one.
 */
export function saysNothing(
  { name, source, value }: Pick<Signal, 'name' | 'source'> & { readonly value: unknown },
  readings: readonly Readonly<Record<string, SignalReading>>[],
): boolean {
  if (typeof value !== 'string' || value === 'true' || value === 'false') return false
  const taking = readings.flatMap((one) => {
    const reading = Object.hasOwn(one, name) ? one[name] : undefined
    return reading?.source === source ? [reading] : []
  })
  return taking.length > 0 && taking.every(({ values }) => !Object.hasOwn(values, value))
}

/** What somebody said, as a reward. */
interface Opinion {
  readonly reporter: string
  readonly worth: number
}

/** One opinion of each `who`: the mean of theirs. */
function meansBy(opinions: readonly Opinion[], who: (one: Opinion) => string): readonly Opinion[] {
  const found = new Map<string, number[]>()
  for (const one of opinions) {
    const known = found.get(who(one))
    if (known) known.push(one.worth)
    else found.set(who(one), [one.worth])
  }
  return [...found].map(([reporter, worths]) => ({ reporter, worth: mean(worths) }))
}

/** Of each reporter and thing the last; of equal times the greater key, so that the order of arrival does not matter. */
function lastWords(signals: readonly Signal[]): readonly Signal[] {
  const last = new Map<string, Signal>()
  for (const one of signals.toSorted((a, b) => a.at - b.at || (a.key < b.key ? -1 : 1))) {
    last.set(JSON.stringify([one.reporter, one.node]), one)
  }
  return [...last.values()]
}

function worthOf(
  { value, node }: Signal,
  trajectory: Trajectory,
  { values, range: [worst, best] }: Pick<SignalReading, 'values' | 'range'>,
): number | null {
  if (typeof value === 'object') return worthOfEdit(value, node, trajectory)
  const named = Object.hasOwn(values, String(value)) ? values[String(value)] : undefined
  if (named !== undefined) return named
  return typeof value === 'number' ? Math.min(1, Math.max(-1, (2 * (value - worst)) / (best - worst) - 1)) : null
}

function worthOfEdit(value: Json, node: Signal['node'], trajectory: Trajectory): number | null {
  const edit = EditedAnswer.safeParse(value)
  const turns = ownTurns(trajectory)
  const said = node === null ? turns.at(-1) : turns.find((turn) => turn.node.id === node)
  return edit.success && said ? 0 - editExtent(said.message.content, edit.data.text) : null
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
