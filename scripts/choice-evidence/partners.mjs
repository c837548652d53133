/**
 * A world of partners of hidden types. Which of four options is right depends on the type, which nobody is told: a partner is
 * seen through a window of noisy steps, and never again. Simulated, so that the best is known.
 *
 * - `plain`: each step shows the type by itself, in the mean of four numbers.
 * - `answers`: each step is one of six manners that was tried on the partner, and whether it was liked. Each type likes three of
 *   the six, so that how much is liked tells nothing; which is liked does. A mood of the session likes more or less of all.
 * - `… among noise`: beside them, numbers that are alike within a window and tell nothing.
 */
import { rng } from '../../dist/core/index.js'
import { times } from '../evidence.mjs'

const types = 8
export const options = ['a', 'b', 'c', 'd']
const manners = 6
const [rightChance, wrongChance] = [0.8, 0.3]

export const worlds = {
  'answers, among noise': { sort: 'answers', noise: 5 },
  'plain, among noise': { sort: 'plain', noise: 8 },
  answers: { sort: 'answers', noise: 0 },
}

const gaussian = (random) => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())

/** Signs of six manners, three of each. */
const halves = times(64, (code) => times(manners, (bit) => ((code >> bit) & 1 ? 1 : -1))).filter(
  (signs) => signs.reduce((a, b) => a + b, 0) === 0,
)

/** A world of one seed: its types, and what is right for each. */
export function worldOf({ sort, noise }, seed) {
  const random = rng('types', seed)
  const likes = random.shuffle(halves).slice(0, types)
  const styles = random
    .shuffle(times(16, (code) => times(4, (bit) => ((code >> bit) & 1 ? 0.5 : -0.5))))
    .slice(0, types)
  const right = random.shuffle(times(types, (i) => i % options.length))

  function stepOf(type, mood, draw) {
    if (sort === 'plain') return styles[type].map((middle) => middle + gaussian(draw))
    const manner = draw.int(manners)
    const chance = Math.min(0.95, Math.max(0.05, 0.5 + 0.3 * likes[type][manner] + mood))
    return [...times(manners, (i) => Number(i === manner)), draw.next() < chance ? 1 : -1]
  }
  return {
    /** The numbers of a step. */
    inputs: (sort === 'plain' ? 4 : manners + 1) + noise,
    partner: (draw) => draw.int(types),
    /** A window of what a partner of the type does. */
    window(type, steps, draw) {
      const mood = 0.2 * gaussian(draw)
      const session = times(noise, () => 2 * gaussian(draw))
      return times(steps, () => [...stepOf(type, mood, draw), ...session.map((middle) => middle + gaussian(draw))])
    },
    worth: (type) => options.map((_, i) => (right[type] === i ? rightChance : wrongChance)),
    /** What only who made the world can write: the sufficient means, without the noise. */
    handmade(window) {
      if (sort === 'plain') return times(4, (j) => window.reduce((sum, step) => sum + step[j], 0) / window.length)
      return times(manners, (m) => {
        const met = window.filter((step) => step[m] === 1)
        return met.reduce((sum, step) => sum + step[manners], 0) / Math.max(1, met.length)
      })
    },
    types: times(types, (i) => i),
  }
}
