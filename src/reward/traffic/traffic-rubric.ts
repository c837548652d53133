import { z } from 'zod'
import { parseInput, type Rubric } from '../../core/index.ts'
import { type Factors, implicit, ImplicitReading, signal, SignalReading } from '../evidence/index.ts'
import {
  brokenCalls,
  type Clarity,
  type Guard,
  inaction,
  noAnswer,
  overlong,
  questionsBack,
  repetition,
} from '../guards/index.ts'
import type { RewardPart } from '../part.ts'
import { rubric } from '../rubric.ts'

/** The name of the part that nobody reports. */
const guessed = 'implicit'

const count = z.int().nonnegative()
/** A guard: its options, or `false` for off. */
const guard = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.union([z.literal(false), z.strictObject(shape)]).prefault({} as never)

/** What sessions of an agent's traffic are rewarded by: JSON, as `ratchet serve` reads it. Every key has a default. */
export const TrafficRubricConfig = z.strictObject({
  /** What people and the operator's systems report, by the signal's name. */
  signals: z
    .record(z.string().min(1).max(128), SignalReading)
    .refine((signals) => !Object.hasOwn(signals, guessed), `"${guessed}" is the name of what nobody reports`)
    .prefault({ thumbs: {} }),
  /** What people do with the answers; `false`: it does not count. */
  implicit: z.union([z.literal(false), ImplicitReading]).prefault({}),
  /** What is looked for that must not pay; `false`: it is not. */
  guards: z
    .strictObject({
      /** `allow`: calls of one session that may be unreadable. */
      brokenCalls: guard({ allow: count.default(0) }),
      noAnswer: guard({}),
      /** `times`: equal calls, one after the other, that are too many. */
      repetition: guard({ times: z.int().min(2).default(5) }),
      /** `clearFrom`: from which clarity on a task is clear; `allow`: questions back on clear tasks of one session. */
      questionsBack: guard({ clearFrom: z.number().min(0).max(1).default(0.5), allow: count.default(0) }),
      inaction: guard({}),
      /** `tokens`: of one turn. */
      overlong: guard({ tokens: z.int().positive().default(8_192) }),
    })
    .prefault({}),
  /** What a session earns that is vetoed or was cut short by its policy; the least that one can. */
  floor: z.number().max(0).default(-1),
  /** The most that a session can earn. */
  ceiling: z.number().positive().default(1),
})
export type TrafficRubricConfig = z.infer<typeof TrafficRubricConfig>

/** What JSON cannot say. */
export interface TrafficRubricParts {
  /** How clear a task is, in the place of {@link clearByWording}. */
  readonly clarity?: Clarity
  /** Further guards, looked at last. */
  readonly guards?: readonly Guard[]
  /** Keys whose names are people, each of whom counts as one: `reporters.trusted`. Names of other keys are their key. */
  readonly trusted?: readonly string[]
  /** What the worth of signals is multiplied by, by their names as `signalPays` gives them: an audit's calibration. */
  readonly factors?: Factors
}

/**
 * The rubric of sessions: what was told (signals, added up), or where nobody told anything, what behaviour lets guess;
 * missing where neither says anything. A session that broke off through no act of the policy keeps what speaks against it.
 * @throws InputError for a configuration that is none, and RewardError for one without any evidence.
 */
export function trafficRubric(
  config: z.input<typeof TrafficRubricConfig> = {},
  { clarity, guards: more = [], trusted = [], factors = {} }: TrafficRubricParts = {},
): Rubric {
  const { signals, implicit: behaviour, guards, floor, ceiling } = parseInput(TrafficRubricConfig, config, 'The rubric')
  const told = Object.entries(signals).map(
    ([name, reading]) => [name, times(signal(name, reading, trusted), factors[name])] as const,
  )
  const parts = [...told, ...(behaviour === false ? [] : [[guessed, implicit(behaviour, factors)] as const])]
  const on = [
    guards.brokenCalls && brokenCalls(guards.brokenCalls),
    guards.noAnswer && noAnswer(),
    guards.repetition && repetition(guards.repetition),
    guards.questionsBack && questionsBack({ ...guards.questionsBack, ...(clarity ? { clarity } : {}) }),
    guards.inaction && inaction(),
    guards.overlong && overlong(guards.overlong),
  ].filter((one) => one !== false)
  return rubric(Object.fromEntries(parts), { guards: [...on, ...more], floor, ceiling, cut: 'against' })
}

/** A part whose scores are multiplied. */
function times(part: RewardPart, factor = 1): RewardPart {
  if (factor === 1) return part
  return {
    ...part,
    identity: `${part.identity}×${factor}`,
    async score(...seen) {
      const score = await part.score(...seen)
      return score === null ? null : factor * score
    },
  }
}
