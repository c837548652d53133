import { namesKeys, type ReporterLimits } from '../../../reward/index.ts'
import { LearnError } from '../../errors.ts'
import type { LearningMode } from './learning-mode.ts'

/** What is wrong with limits of reporters, and what to do. */
export interface StrangersDecide {
  readonly key: 'trusted' | 'shareOfKey'
  readonly message: string
  readonly hint: string
}

/**
 * Why a mode must not be: in `automatic` nobody looks before a promotion, so who decides must be people whom the owner
 * knows of, and not names that a key made up.
 * @returns `null` where nothing speaks against it.
 */
export function strangersDecide(mode: LearningMode, limits: ReporterLimits): StrangersDecide | null {
  if (mode !== 'automatic') return null
  if (!namesKeys(limits.trusted)) {
    return {
      key: 'trusted',
      message:
        'the mode "automatic" needs a trusted key: without one a single key could make up names and decide alone',
      hint: 'List the ids of the keys whose names are real people ("open" where the gateway asks for no key), or choose the mode "canary".',
    }
  }
  if ((limits.shareOfKey ?? 0) <= mostOfStrangers) return null
  return {
    key: 'shareOfKey',
    message: `in the mode "automatic" a key that is not trusted may decide ${mostOfStrangers} at most`,
    hint: 'Lower reporters.shareOfKey, or choose the mode "canary".',
  }
}

/** With more than that a key outvotes all others. */
const mostOfStrangers = 0.5

/** @throws LearnError where names that an untrusted key makes up would promote a candidate. */
export function refuseStrangers(reporters: ReporterLimits): void {
  const why = strangersDecide('automatic', reporters)
  if (!why) return
  throw new LearnError({
    code: 'learn/strangers-decide',
    message: `reporters.${why.key}: ${why.message}.`,
    hint: why.hint,
  })
}
