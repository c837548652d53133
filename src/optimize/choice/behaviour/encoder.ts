import { z } from 'zod'
import { innerProduct } from '../../../agent/index.ts'
import { ChoiceError } from '../errors.ts'
import { encoded, type Steps } from './encoding.ts'

/** What somebody did, step by step: each step as many finite numbers as the others. Their order does not count. */
export type BehaviourWindow = readonly (readonly number[])[]

/**
 * Turns a window of somebody's behaviour into a vector: z = W·(mean over steps of h(x), 1), divided by its length. x is a step,
 * standardised; h is a hidden layer of tanh, or x itself. JSON, to be kept.
 */
export const BehaviourEncoder = z
  .strictObject({
    kind: z.literal('behaviour-embedding'),
    version: z.literal(1),
    /** Names what made the numbers of a step: an encoder reads no others. */
    features: z.string().min(1),
    /** Subtracted from each number of a step, and what it is then divided by. */
    middle: z.array(z.number()).min(1),
    scale: z.array(z.number().positive()),
    /** Of each unit of the hidden layer its weights, and then its bias. `null`: there is no such layer. */
    hidden: z.array(z.array(z.number())).min(1).nullable(),
    /** Of each number of the vector its weights, and then its bias. */
    weights: z.array(z.array(z.number())).min(2),
  })
  .superRefine(({ middle, scale, hidden, weights }, context) => {
    const inner = hidden?.length ?? middle.length
    const fits =
      scale.length === middle.length &&
      (hidden ?? []).every((row) => row.length === middle.length + 1) &&
      weights.every((row) => row.length === inner + 1)
    if (!fits) context.addIssue({ code: 'custom', message: 'its parts do not fit each other' })
  })
export type BehaviourEncoder = Readonly<z.infer<typeof BehaviourEncoder>>

/**
 * The vector of a window, of length 1: as many numbers as the encoder has rows of weights, each in [−1, 1], to be given to a
 * `choice` as features. All zero for a window without steps: of somebody of whom nothing was seen yet. A step costs inputs ×
 * units of the hidden layer. Pure.
 * @throws ChoiceError (`choice/bad-window`) for a step that is not as many finite numbers as the encoder reads.
 */
export function embedBehaviour(encoder: BehaviourEncoder, window: BehaviourWindow): readonly number[] {
  const { middle, hidden, weights } = encoder
  requireSteps(window, middle.length, 'The window')
  if (window.length === 0) return weights.map(() => 0)
  const shape = { inputs: middle.length, hidden: hidden?.length ?? 0, dimensions: weights.length }
  const at = Float64Array.from([...(hidden ?? []), ...weights].flat())
  return [...encoded(at, shape, stepsOf(window, encoder)).unit]
}

/** How the numbers of a step are spread. */
export type Spread = Readonly<Pick<BehaviourEncoder, 'middle' | 'scale'>>

/** A step in standard deviations from the middle. */
export const standardised = (step: readonly number[], { middle, scale }: Spread): readonly number[] =>
  step.map((value, j) => (value - (middle[j] ?? 0)) / (scale[j] ?? 1))

/** A window as it is encoded: its steps, standardised. */
export const stepsOf = (window: BehaviourWindow, spread: Spread): Steps =>
  Float64Array.from(window.flatMap((step) => standardised(step, spread)))

/** The mean of vectors, place by place. */
export const meanOf = (vectors: readonly (readonly number[])[]): readonly number[] =>
  (vectors[0] ?? []).map((_, j) => vectors.reduce((sum, vector) => sum + (vector[j] ?? 0), 0) / vectors.length)

/** The vector divided by its length; one of length 0 stays as it is. */
export function ofLengthOne(vector: readonly number[]): readonly number[] {
  const length = Math.sqrt(innerProduct(vector, vector))
  return length > 0 ? vector.map((value) => value / length) : vector
}

/** @throws ChoiceError (`choice/bad-window`) unless each step is so many finite numbers. */
export function requireSteps(window: BehaviourWindow, inputs: number, what: string): void {
  const bad = window.findIndex((step) => step.length !== inputs || !step.every(Number.isFinite))
  if (bad === -1) return
  throw new ChoiceError({
    code: 'choice/bad-window',
    message: `${what} has a step, number ${bad}, of ${window[bad]?.length ?? 0} numbers; each must be ${inputs} finite numbers.`,
    hint: 'Make the numbers of all steps with one function.',
  })
}
