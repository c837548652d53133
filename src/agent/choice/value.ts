import { z } from 'zod'

/** What is believed of an option's quality where nothing else is known: a Beta distribution over [0, 1]. */
const Counts = z.strictObject({ alpha: z.number().positive(), beta: z.number().positive() })

/**
 * What is believed of an option's quality, by features: a Gaussian over coefficients with this precision A and moments b, so
 * that its mean is A⁻¹b (Bayesian linear regression). The last coefficient is the intercept.
 */
const Linear = z.strictObject({ precision: z.array(z.array(z.number())), moments: z.array(z.number()) })

/** A belief about an option's quality, which learning sharpens: `Counts` for a choice without features, else `Linear`. */
export const Quality = z.union([Counts, Linear])
export type Quality = Readonly<z.infer<typeof Quality>>

/** One option of a choice. */
export const ChoiceOption = z.strictObject({
  name: z.string().min(1).max(128),
  description: z.string().max(2000).exactOptional(),
  /** What the reward takes for it, in the reward's unit, ≥ 0; it is known, and need not be explored. */
  cost: z.number().nonnegative(),
  /** Whether it may be taken whatever is believed of it. */
  safe: z.boolean(),
  quality: Quality,
})
export type ChoiceOption = Readonly<z.infer<typeof ChoiceOption>>

const matrix = z.array(z.array(z.number()))

/**
 * How an option is chosen.
 * - `fixed`: always this one.
 * - `softmax`: by scores that are linear in the features, or in a hidden layer of tanh over them; one row of weights for each
 *   option, the last weight of a row being its intercept.
 * - `ucb`: whose upper bound of what it brings is highest: mean + `width` · deviation (LinUCB, Li et al. 2010).
 * - `thompson`: each as likely as it is to bring the most (Thompson 1933).
 */
export const ChoicePolicy = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('fixed'), option: z.string() }),
  z.strictObject({ by: z.literal('softmax'), hidden: matrix.nullable(), weights: matrix }),
  z.strictObject({ by: z.literal('ucb'), width: z.number().nonnegative() }),
  z.strictObject({ by: z.literal('thompson') }),
])
export type ChoicePolicy = Readonly<z.infer<typeof ChoicePolicy>>

/** The value of a `choice` Parameter: the options, what is believed of each, and how one is chosen. */
export const ChoiceValue = z
  .strictObject({
    options: z.array(ChoiceOption).min(2).max(32),
    /** How many features each choice is made by. */
    features: z.int().nonnegative().max(256),
    /** The least and the most an episode earns before costs: what quality 0 and 1 stand for. */
    range: z.tuple([z.number(), z.number()]),
    /** Standard deviation of an episode's quality about what features say of it; with features only. */
    noise: z.number().positive(),
    policy: ChoicePolicy,
    /** The share of choices that are drawn evenly from the options that may be explored. */
    explore: z.number().min(0).max(1),
    /**
     * An option that is not safe is taken only where the chance that its quality is below `quality` (in the reward's unit,
     * before costs) is at most `risk`. `null`: each may be taken.
     */
    floor: z.strictObject({ quality: z.number(), risk: z.number().min(0).max(1) }).nullable(),
  })
  .superRefine((value, context) => {
    for (const message of problemsIn(value)) context.addIssue({ code: 'custom', message })
  })
export type ChoiceValue = Readonly<z.infer<typeof ChoiceValue>>

type Unchecked = Pick<ChoiceValue, 'options' | 'features' | 'range' | 'policy' | 'floor'>

function* problemsIn({ options, features, range, policy, floor }: Unchecked): Generator<string> {
  const names = new Set(options.map(({ name }) => name))
  if (names.size < options.length) yield 'two options have one name'
  if (range[0] >= range[1]) yield 'the range must rise'
  if (floor !== null && !options.some(({ safe }) => safe)) yield 'a floor needs an option that is safe'
  const size = features + 1
  for (const { name, quality } of options) {
    if (!fits(quality, features)) yield `what is believed of "${name}" is not of ${features} features`
  }
  if (policy.by === 'fixed' && !names.has(policy.option)) yield `there is no option "${policy.option}"`
  if (policy.by !== 'softmax') return
  const { hidden, weights } = policy
  if (hidden !== null && !hidden.every((row) => row.length === size)) yield `a hidden unit needs ${size} weights`
  const inner = hidden === null ? size : hidden.length + 1
  if (weights.length !== options.length || !weights.every((row) => row.length === inner))
    yield `the policy needs ${options.length} rows of ${inner} weights`
}

function fits(quality: Quality, features: number): boolean {
  if ('alpha' in quality) return features === 0
  const size = features + 1
  const { precision, moments } = quality
  return (
    features > 0 &&
    moments.length === size &&
    precision.length === size &&
    precision.every((row) => row.length === size)
  )
}
