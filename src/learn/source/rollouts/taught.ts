import { LearnError } from '../../errors.ts'
import type { RolloutOptions } from '../../options.ts'
import type { Trained } from '../../run/parameter.ts'

/**
 * Which of the weights that learn imitate the demonstrations: those that `prime` names, or the only ones.
 * @returns `null` where there is nothing to imitate, or nobody who would.
 * @throws LearnError where several could, and where those that are named do not learn.
 */
export function taughtBy({ prime }: Pick<RolloutOptions, 'prime'>, trained: readonly Trained[]): Trained | null {
  const [first = null, ...others] = trained
  if (!prime) return null
  if (prime.parameter === undefined && others.length === 0) return first
  const named = trained.find(({ parameter }) => parameter === prime.parameter)
  if (named) return named
  const learn = trained.map(({ parameter }) => `"${parameter}"`).join(', ')
  throw new LearnError({
    code: 'learn/whose-demonstrations',
    message:
      prime.parameter === undefined
        ? `The weights ${learn} learn, and nobody said whose acts the demonstrations show.`
        : `The demonstrations are to teach "${prime.parameter}", and the weights that learn are ${learn || 'none'}.`,
    hint: 'Name in `prime.parameter` the weights that act in the environment as the demonstrations do.',
  })
}
