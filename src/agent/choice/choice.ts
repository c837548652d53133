import type { Trajectory } from '../../core/index.ts'
import type { ParameterDefinition } from '../parameters.ts'
import { choiceKind, MadeChoice } from './choice-kind.ts'
import type { ChoiceOption, ChoicePolicy, ChoiceValue, Quality } from './value.ts'

/** An option by its name, or with what is known of it. */
export type OptionGiven =
  | string
  | {
      readonly name: string
      readonly description?: string
      /** What it costs each time it is chosen, ≥ 0, in the reward's unit. Default 0. See {@link optionCosts}. */
      readonly cost?: number
      /** Whether it may be taken whatever is believed of it. Default false. */
      readonly safe?: boolean
    }

/** Declares a choice. */
export interface ChoiceOptions {
  /** Two to 32, each of another name. */
  readonly options: readonly OptionGiven[]
  /** How many numbers `choose` is given. Default 0: the same policy whatever the task. */
  readonly features?: number
  /** The option that is taken until something is learned. Default: all alike. */
  readonly start?: string
  /** The share of choices, in [0, 1], that are drawn evenly from what may be explored. Default 0.05. */
  readonly explore?: number
  /**
   * Options that are not safe are taken only where the chance that their quality is below this (in the reward's unit, before
   * costs) is at most `risk`, in [0, 1], default 0.1. Default: no floor. Needs an option that is safe.
   */
  readonly floor?: { readonly quality: number; readonly risk?: number }
  /** The least and the most that an episode earns before costs. Default [0, 1]. */
  readonly range?: readonly [number, number]
  /** Standard deviation of quality that features do not explain, in widths of the range. Default 0.5, the most there can be of 0 and 1. */
  readonly noise?: number
}

/**
 * A choice that learning moves: `await route.choose(features?)` in the agent's program. Before anything is learned each option
 * is as likely as the others, or `start` is taken.
 */
export function choice({
  options,
  features = 0,
  start,
  explore = 0.05,
  floor,
  range = [0, 1],
  noise = 0.5,
}: ChoiceOptions): ParameterDefinition<typeof choiceKind> {
  const value: ChoiceValue = {
    options: options.map((given) => optionOf(given, features)),
    features,
    range: [...range],
    noise,
    policy: start === undefined ? evenPolicy(options.length, features) : { by: 'fixed', option: start },
    explore,
    floor: floor === undefined ? null : { quality: floor.quality, risk: floor.risk ?? 0.1 },
  }
  return { kind: choiceKind.kind, of: choiceKind, initial: () => value }
}

/** Scores that are all 0. */
export const evenPolicy = (options: number, features: number): Extract<ChoicePolicy, { by: 'softmax' }> => ({
  by: 'softmax',
  hidden: null,
  weights: Array.from({ length: options }, () => Array.from({ length: features + 1 }, () => 0)),
})

function optionOf(given: OptionGiven, features: number): ChoiceOption {
  const { cost = 0, safe = false, ...rest } = typeof given === 'string' ? { name: given } : given
  return { ...rest, cost, safe, quality: unknownQuality(features) }
}

/** Quality of which nothing is known: its mean is the middle of the range, and it counts as much as two episodes. */
function unknownQuality(features: number): Quality {
  if (features === 0) return { alpha: 1, beta: 1 }
  const places = Array.from({ length: features + 1 }, (_, i) => i)
  return {
    precision: places.map((i) => places.map((j) => Number(i === j))),
    moments: places.map((i) => (i === features ? 0.5 : 0)),
  }
}

/**
 * A part of a rubric: what the options that a choice took cost, as its options say, counted against the episode. With it,
 * what is released is judged by what it costs, too.
 * @param parameter the choice's name in its agent.
 */
export function optionCosts(parameter: string) {
  return {
    identity: `option-costs:${parameter}`,
    charges: parameter,
    score: ({ decisions }: Pick<Trajectory, 'decisions'>): number =>
      -decisions.reduce((sum, decision) => {
        const made = decision.parameter === parameter ? MadeChoice.safeParse(decision.made) : null
        return sum + (made?.data?.cost ?? 0)
      }, 0),
  }
}
