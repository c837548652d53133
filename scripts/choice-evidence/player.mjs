/** What comparisons of learned choices share: an optimizer that plays a choice, and how results are told. */
import { choice, choiceKind } from '../../dist/agent/index.js'
import { rng } from '../../dist/core/index.js'
import { interval as acrossSeeds } from '../kinds-evidence/intervals.mjs'

/** Opens an optimizer on a choice, which chooses by features and learns from what was earned. */
export async function playerOf(optimizer, declared, seed) {
  const value = choice(declared).initial(() => '')
  const seat = {
    parameter: 'route',
    version: 'v',
    value,
    rng: (...key) => rng('learner', seed, ...key),
    evaluate: null,
  }
  const learning = await optimizer.open(seat, null)
  return {
    /** One choice for each list of features, before anything of the round is known. */
    choose: async (rows, round) => {
      const acting = await learning.bound()
      return Promise.all(
        rows.map(async (features, i) => {
          const decided = []
          const bound = { kind: 'choice', inForce: {}, value: acting, rng: rng('acts', seed, round, i) }
          const handle = choiceKind.handle(bound, { decide: ({ made }) => decided.push(made) }, 'route')
          await handle.choose(features)
          return decided[0]
        }),
      )
    },
    step: async (made, earned, round) => {
      const mean = meanOf(earned)
      await learning.step(
        made.map((one, i) => ({ ...one, earned: earned[i], charged: one.cost, advantage: earned[i] - mean })),
        round,
      )
    },
  }
}

export const meanOf = (values) => values.reduce((a, b) => a + b, 0) / values.length

/** A mean with its 95 % interval. */
export const interval = (values, digits = 3) => {
  const { mean, high } = acrossSeeds(values)
  return `${mean.toFixed(digits)} ± ${(high - mean).toFixed(digits)}`
}
