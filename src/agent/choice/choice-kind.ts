import { z } from 'zod'
import { type Bound, type DecisionRecorder, type Kind, notByChance } from '../../core/index.ts'
import { chancesOf } from './chances.ts'
import { ChoiceValue } from './value.ts'

/** Why a choice was not made by its policy: the features are not as many finite numbers as it takes, or its value gives no chances. */
const Failed = z.enum(['bad-features', 'bad-value'])

/** What one decision of a `choice` holds. */
export const MadeChoice = z.strictObject({
  /** Under which key it was made; the same key is answered alike for the rest of the episode. */
  key: z.string(),
  option: z.string(),
  /** The option's place. */
  chosen: z.int().nonnegative(),
  /** How likely each option was: 0 where it might not be taken. */
  chances: z.array(z.number()),
  features: z.array(z.number()),
  /** What the option costs, in the reward's unit. */
  cost: z.number(),
  /** Options that might not be taken, as they may be too bad. */
  barred: z.array(z.string()),
  failed: Failed.nullable(),
})
export type MadeChoice = Readonly<z.infer<typeof MadeChoice>>

/** What one decision of a `choice` leaves for its optimizers. */
export interface ChoiceDeposit extends MadeChoice {
  /** How much better than expected, by the credit estimator; `null` where it does not say. */
  readonly advantage: number | null
  /** What the episode earned, costs taken off, in the reward's unit; `null` where it is not known. */
  readonly earned: number | null
  /** How much more it would have earned if none of this choice's options had cost anything. */
  readonly charged: number
}

/** What an agent's program uses a `choice` by. */
export interface ChoiceHandle {
  /**
   * Chooses an option, once an episode: asked again under the same key, it gives the same one and records nothing.
   * @param features as many finite numbers as the choice was declared with, best around −1 to 1. With others, or where the
   * value in force gives no chances, it takes the first safe option, else the first, and records why.
   * @param options `key`: tells choices of one episode apart that are to be made each for itself. Default: one choice.
   */
  choose(features?: readonly number[], options?: { readonly key?: string }): Promise<string>
}

/** Choices among named options: which model answers, whether to recall, which tools to offer. */
export const choiceKind: Kind<'choice', ChoiceValue, MadeChoice, ChoiceHandle, ChoiceDeposit> = {
  kind: 'choice',
  value: ChoiceValue,
  made: MadeChoice,
  handle: (bound, recorder) => new Choosing(bound, recorder),
  deposit: (decided) =>
    decided.map(({ made, credit: { advantage, utility = null, charged = 0 } }) => ({
      ...made,
      advantage,
      earned: utility,
      charged,
    })),
}

class Choosing implements ChoiceHandle {
  readonly #bound: Bound<ChoiceValue>
  readonly #recorder: DecisionRecorder<MadeChoice>
  readonly #made = new Map<string, string>()

  constructor(bound: Bound<ChoiceValue>, recorder: DecisionRecorder<MadeChoice>) {
    this.#bound = bound
    this.#recorder = recorder
  }

  async choose(features: readonly number[] = [], { key = '' }: { readonly key?: string } = {}): Promise<string> {
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const made = this.#choose(key, features)
    const log = Math.log(made.chances[made.chosen] ?? 1)
    this.#recorder.decide({ made, propensity: made.failed === null ? { log } : notByChance })
    this.#made.set(key, made.option)
    return made.option
  }

  #choose(key: string, features: readonly number[]): MadeChoice {
    const { value, rng } = this.#bound
    const fits = features.length === value.features && features.every(Number.isFinite)
    if (!fits) return fallback(value, key, 'bad-features')
    const { chances, allowed } = chancesOf(value, features)
    const total = chances.reduce((sum, chance) => sum + chance, 0)
    if (!(Math.abs(total - 1) < 1e-6)) return fallback(value, key, 'bad-value')
    const chosen = drawn(chances, rng.next())
    return {
      ...named(value, chosen),
      key,
      chances: [...chances],
      features: [...features],
      barred: value.options.filter((_, i) => !allowed[i]).map(({ name }) => name),
      failed: null,
    }
  }
}

/** The option that a uniform number in [0, 1) falls on: one with a chance above 0. */
function drawn(chances: readonly number[], uniform: number): number {
  let left = uniform
  let last = 0
  for (const [i, chance] of chances.entries()) {
    if (chance === 0) continue
    last = i
    left -= chance
    if (left < 0) break
  }
  return last
}

function fallback(value: ChoiceValue, key: string, failed: z.infer<typeof Failed>): MadeChoice {
  const chosen = Math.max(
    0,
    value.options.findIndex(({ safe }) => safe),
  )
  const chances = value.options.map((_, i) => Number(i === chosen))
  return { ...named(value, chosen), key, chances, features: [], barred: [], failed }
}

function named({ options }: ChoiceValue, chosen: number): Pick<MadeChoice, 'option' | 'chosen' | 'cost'> {
  const { name = '', cost = 0 } = options[chosen] ?? {}
  return { option: name, chosen, cost }
}
