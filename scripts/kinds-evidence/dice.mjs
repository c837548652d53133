import { z } from 'zod'

/** Chance that repeats: what the program does where it remembers nothing. */
export const dice = {
  kind: 'dice',
  value: z.null(),
  made: z.int(),
  handle: ({ rng: chance }, recorder) => ({
    throw(sides) {
      const side = chance.int(sides)
      recorder.decide({ made: side, propensity: { log: -Math.log(sides) } })
      return side
    },
  }),
  deposit: () => [],
}
