import type { ModelService, ValueOf } from '../core/index.ts'
import { LearnError } from './errors.ts'

/**
 * Holds that the model given is exactly the base of a `weights` value: the same reference and the same content, since a
 * folder keeps its name when its files change. Without it, an adapter turned off would not be the base agent
 * (invariant 9).
 * @throws LearnError when it is another.
 */
export function assertSameBase(
  parameter: string,
  { base, baseHash }: Pick<ValueOf<'weights'>, 'base' | 'baseHash'>,
  model: Pick<ModelService, 'base' | 'baseHash'>,
): void {
  if (base !== model.base) throw otherBase(`"${parameter}" serves on base "${base}"`, base, model.base)
  if (baseHash === model.baseHash) return
  throw new LearnError({
    code: 'learn/other-base',
    message: `"${parameter}" was learned on base "${base}" with content ${short(baseHash)}; what is there now has content ${short(model.baseHash)}.`,
    hint: 'Put the files of the model back as they were, or use another store for the changed model.',
  })
}

export const otherBase = (what: string, base: string, given: string): LearnError =>
  new LearnError({
    code: 'learn/other-base',
    message: `${what}, but the model given is "${given}".`,
    hint: `Learn on "${base}", or use another store for the new base.`,
  })

const short = (hash: string) => hash.slice(0, 12)
