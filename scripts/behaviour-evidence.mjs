/**
 * A choice that depends on who is met: what an embedding of behaviour brings beside features of the same windows that nothing
 * was learned for. The worlds are in scripts/choice-evidence/partners.mjs.
 *
 *   node scripts/behaviour-evidence.mjs [--seeds 10] [--first 0] [--steps 16] [--partners 400] [--worlds 'NAME;NAME']
 *
 * Before the first choice there are four windows without rewards of each of 400 partners. Then 40 rounds of 16 choices, each with a
 * new partner and one window of theirs, by LinUCB. Arms see the same windows, and the same luck of each option. Every arm but
 * the first learns with the width, of 0.3 and 1, that earned it the most on the seeds 1000 and 1001. Told: reward per choice
 * over the first 10 rounds and over all; a partner's right option earns 1 with 0.8, the others with 0.3.
 */
import { parseArgs } from 'node:util'
import { rng } from '../dist/core/index.js'
import { embedBehaviour, fitBehaviourEmbedding, linUcb } from '../dist/optimize/choice/index.js'
import { principal, products, raw, scaler } from './choice-evidence/features.mjs'
import { options, worldOf, worlds } from './choice-evidence/partners.mjs'
import { interval, meanOf, playerOf } from './choice-evidence/player.mjs'
import { table, times } from './evidence.mjs'

const { values: given } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10' },
    first: { type: 'string', default: '0' },
    steps: { type: 'string', default: '16' },
    partners: { type: 'string', default: '400' },
    worlds: { type: 'string', default: Object.keys(worlds).join(';') },
    options: { type: 'string', default: '{}' },
  },
})
const [seeds, first, steps, partners] = [given.seeds, given.first, given.steps, given.partners].map(Number)
const chosen = given.worlds.split(';')
const [rounds, perRound, windowsOfEach] = [40, 16, 4]
const tuningSeeds = times(2, (i) => 1000 + i)
const embeddingOptions = JSON.parse(given.options)

/** What every arm is given of one seed: past windows without rewards, and who will be met. */
function materialOf(name, seed) {
  const world = worldOf(worlds[name], seed)
  const past = rng('past', seed)
  const examples = times(partners, (i) => {
    const type = world.partner(past)
    return times(windowsOfEach, () => ({ partner: `p${i}`, window: world.window(type, steps, past) }))
  }).flat()
  const met = times(rounds, (round) => {
    const random = rng('met', seed, round)
    return times(perRound, () => {
      const type = world.partner(random)
      const window = world.window(type, steps, random)
      return { type, window, luck: random.next() }
    })
  })
  return { world, examples, windows: examples.map(({ window }) => window), met, seed }
}

/** Standardised by the past windows, so that no arm is hurt by units; divided so that many features weigh no more than few. */
function scaled(windows, of) {
  const scale = scaler(windows.map(of))
  return (window) => {
    const row = scale(of(window))
    return row.map((x) => x / Math.sqrt(row.length))
  }
}

function embedding({ examples, seed }, extra = {}) {
  const fitted = fitBehaviourEmbedding(examples, { features: 'steps', seed, ...embeddingOptions, ...extra })
  return { fitted, of: ({ window }) => (fitted.status === 'fitted' ? embedBehaviour(fitted.encoder, window) : []) }
}

const byWindow = (make) => (material) => {
  const of = make(material)
  return { of: ({ window }) => of(window) }
}

/** What makes features of whom is met, from what every arm is given. */
const arms = {
  'no features': () => ({ of: () => [] }),
  'mean of the steps': byWindow(({ windows }) => scaled(windows, raw)),
  'means of products': byWindow(({ windows }) => scaled(windows, products)),
  '… 8 principal components': byWindow(({ windows, seed }) => {
    const scale = scaler(windows.map(products))
    const rows = windows.map((window) => scale(products(window)))
    const on = principal(rows, 8, rng('principal', seed))
    return scaled(windows, (window) => on(scale(products(window))))
  }),
  'embedding, linear': (material) => embedding(material, { hidden: 0 }),
  embedding,
  'made by who knows the world': byWindow(({ windows, world }) => scaled(windows, (window) => world.handmade(window))),
  'the type itself': ({ world }) => ({ of: ({ type }) => world.types.map((one) => Number(one === type)) }),
}

async function play({ world, met, seed }, { of }, width) {
  const rows = met.map((round) => round.map(of))
  const features = rows[0][0].length
  const player = await playerOf(linUcb({ width }), { options, features }, seed)
  const earnedIn = []
  for (const [round, people] of met.entries()) {
    const made = await player.choose(rows[round], round)
    const earned = people.map(({ type, luck }, i) => Number(luck < world.worth(type)[made[i].chosen]))
    await player.step(made, earned, round)
    earnedIn.push(meanOf(earned))
  }
  return { early: meanOf(earnedIn.slice(0, 10)), all: meanOf(earnedIn) }
}

for (const name of chosen) {
  const runs = Object.fromEntries(Object.keys(arms).map((arm) => [arm, { results: [], fits: [], width: 1 }]))
  const tuning = tuningSeeds.map((seed) => materialOf(name, seed))
  for (const [arm, make] of Object.entries(arms)) {
    const made = tuning.map((material) => ({ material, features: make(material) }))
    let best = Number.NEGATIVE_INFINITY
    for (const width of [0.3, 1]) {
      const results = []
      for (const { material, features } of made) results.push((await play(material, features, width)).all)
      if (meanOf(results) > best) [best, runs[arm].width] = [meanOf(results), width]
    }
  }
  for (const seed of times(seeds, (i) => first + i)) {
    const material = materialOf(name, seed)
    for (const [arm, make] of Object.entries(arms)) {
      const features = make(material)
      runs[arm].fits.push(features.fitted ?? null)
      runs[arm].results.push(await play(material, features, runs[arm].width))
    }
  }
  const over = (arm, part) => runs.embedding.results.map((one, i) => one[part] - runs[arm].results[i][part])
  const apart = (fits) =>
    fits[0] === null
      ? ''
      : interval(
          fits.map(({ evidence }) => evidence.toldApart),
          2,
        )
  const refused = (fits) => (fits[0] === null ? '' : String(fits.filter(({ status }) => status === 'refused').length))
  table(
    `${name}: ${steps} steps a window, ${partners} past partners, ${seeds} seeds from ${first}`,
    [
      'features',
      'first 160 choices',
      'all 640',
      'embedding more by, first 160',
      'all',
      'told apart',
      'refused',
      'width',
    ],
    Object.entries(runs).map(([arm, { results, fits, width }]) => [
      arm,
      interval(results.map(({ early }) => early)),
      interval(results.map(({ all }) => all)),
      arm === 'embedding' ? '' : interval(over(arm, 'early')),
      arm === 'embedding' ? '' : interval(over(arm, 'all')),
      apart(fits),
      refused(fits),
      width,
    ]),
  )
  const rawApart = runs.embedding.fits.map(({ evidence }) => evidence.rawToldApart)
  console.log(`\nTold apart by the mean of the steps: ${interval(rawApart, 2)}`)
}
