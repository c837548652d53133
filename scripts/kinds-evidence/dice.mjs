import { z } from 'zod'

/** Chance that repeats: what a program does where nothing else decides. */
export const dice = {
  kind: 'dice',
  value: z.null(),
  made: z.number(),
  handle: ({ rng: chance }, recorder) => ({
    throw(sides) {
      const side = chance.int(sides)
      recorder.decide({ made: side, propensity: { log: -Math.log(sides) } })
      return side
    },
    below(odds) {
      const drawn = chance.next()
      recorder.decide({ made: drawn, propensity: { log: Math.log(drawn < odds ? odds : 1 - odds) } })
      return drawn < odds
    },
  }),
  deposit: () => [],
}
