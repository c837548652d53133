import { z } from 'zod'

/** Chance that repeats. */
export const odds = {
  kind: 'dice',
  value: z.null(),
  made: z.number(),
  handle: ({ rng: chance }, recorder) => ({
    below(odds) {
      const drawn = chance.next()
      recorder.decide({ made: drawn, propensity: { log: Math.log(drawn < odds ? odds : 1 - odds) } })
      return drawn < odds
    },
  }),
  deposit: () => [],
}
