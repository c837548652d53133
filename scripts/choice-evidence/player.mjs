/** What comparisons of learned choices share: an optimizer that plays a choice, and how results are told. */
import { choice, choiceKind } from '../../dist/agent/index.js'
import { rng } from '../../dist/core/index.js'

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
        made.map((one, i) => ({ ...one, earned: earned[i], advantage: earned[i] - mean })),
        round,
      )
    },
  }
}

export const meanOf = (values) => values.reduce((a, b) => a + b, 0) / values.length

/** Student's t for a 95 % interval; by degrees of freedom, of the table of Abramowitz & Stegun 26.10. */
const t95 = (freedom) => ({ 4: 2.776, 9: 2.262, 14: 2.145, 19: 2.093, 29: 2.045 })[freedom] ?? 1.96 + 2.4 / freedom

/** A mean with its 95 % interval. */
export const interval = (values, digits = 3) => {
  const mean = meanOf(values)
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return `${mean.toFixed(digits)} ± ${(t95(values.length - 1) * Math.sqrt(variance / values.length)).toFixed(digits)}`
}
