import { byTime, cameTo, type Experience } from '../../agent/index.ts'
import type { Outcome } from './part.ts'

/** How episodes went, in the order in which they began; those of which nothing is known are left out. */
export const outcomesOf = (experiences: readonly Experience[]): readonly Outcome[] =>
  experiences.toSorted(byTime).flatMap((experience): Outcome[] => {
    const came = cameTo(experience)
    return came === null ? [] : [{ experience, ...came }]
  })
