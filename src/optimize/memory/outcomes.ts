import type { Experience } from '../../agent/index.ts'
import type { Outcome } from './part.ts'

/** What reward, at least, says that an episode worked. */
const workedFrom = 0.5

/**
 * How episodes went. What they earned counts where the credits tell it: as MemRL's ±1. Else how much
 * better they went than expected. What broke, what a guard vetoed and what nothing is known of is no example of anything.
 */
export function outcomesOf(experiences: readonly Experience[]): readonly Outcome[] {
  return experiences
    .toSorted((a, b) => a.at - b.at || (a.trajectory < b.trajectory ? -1 : 1))
    .flatMap((experience): Outcome[] => {
      const signal = signalOf(experience)
      return signal === null ? [] : [{ experience, signal, example: exampleIn(experience) }]
    })
}

function signalOf({ earned, advantage }: Experience): number | null {
  const told = earned === null ? advantage : 2 * earned - 1
  return told === null || !Number.isFinite(told) ? null : Math.max(-1, Math.min(1, told))
}

function exampleIn({ whole, earned, advantage }: Experience): Outcome['example'] {
  if (!whole) return null
  if (earned !== null) return earned >= workedFrom ? 'worked' : 'failed'
  // An advantage alone does not tell a failure from what was vetoed.
  return (advantage ?? 0) > 0 ? 'worked' : null
}
