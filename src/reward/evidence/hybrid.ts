import { RewardError } from '../errors.ts'
import type { RewardPart } from '../part.ts'

/**
 * What was run decides, and a scorer that runs nothing ranks what passed (Jain et al., "R2E-Gym", 2025): from `least` to 1
 * for what passed whole, by its scorer; below `least` in proportion for what did not. `null` where either part that is
 * needed is: the scorer is asked about what passed alone.
 * @param execution in [0, 1], such as tests; 1 is passed.
 * @param scorer in [0, 1], such as a learned reward or a judge.
 * @param least what passing is worth by itself, in (0, 1). Default 0.6.
 * @throws RewardError for a `least` outside (0, 1), and, when it scores, for a part outside [0, 1].
 */
export function hybrid(execution: RewardPart, scorer: RewardPart, least = 0.6): RewardPart {
  if (!(least > 0 && least < 1)) throw outside('What passing is worth', least)
  return {
    identity: `hybrid:${JSON.stringify([execution.identity, scorer.identity, least])}`,
    async score(...seen) {
      const ran = inUnit('The execution', await execution.score(...seen))
      if (ran === null || ran < 1) return ran === null ? null : least * ran
      const ranked = inUnit('The scorer', await scorer.score(...seen))
      return ranked === null ? null : least + (1 - least) * ranked
    },
  }
}

function inUnit(what: string, score: number | null): number | null {
  if (score !== null && !(score >= 0 && score <= 1)) throw outside(what, score)
  return score
}

const outside = (what: string, value: number) =>
  new RewardError({
    code: 'reward/part-out-of-range',
    message: `${what} of a hybrid reward is ${value}.`,
    hint: 'Give parts from 0 to 1, and a worth of passing between them; weigh what hybrid returns.',
  })
