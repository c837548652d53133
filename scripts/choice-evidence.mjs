/**
 * Routing between two models, one cheap and one good, by what is known of a request: what learned choices earn against always
 * the same model, a draw, and the best that can be known. Simulated: a model is a chance to succeed, so that the best is known.
 *
 *   node scripts/choice-evidence.mjs [seeds] [rounds]
 *
 * A request has a length and a subject in [−1, 1] and its difficulty grows with the length; the subject is noise. A success
 * earns 1; the cheap model costs 0.05, the good one 0.35. Each round is 32 requests, then a step. Told: reward per request over
 * the whole run and over its last quarter, and regret: what the best choice for each request would have earned beside. Arms see
 * the same requests, and the same luck of each model on each.
 */
import { rng } from '../dist/core/index.js'
import { linUcb, reinforce, thompson } from '../dist/optimize/choice/index.js'
import { interval, meanOf, playerOf } from './choice-evidence/player.mjs'

const seeds = Number(process.argv[2] ?? 20)
const rounds = Number(process.argv[3] ?? 60)
const perRound = 32
const costs = [0.05, 0.35]
const names = ['small', 'large']

const logistic = (x) => 1 / (1 + Math.exp(-x))
const chancesOf = ([length]) => [logistic(1 - 4 * length), logistic(3 - length)]

/** Requests of one seed, with the luck of each model on each. */
function requestsOf(seed, round) {
  const random = rng('requests', seed, round)
  return Array.from({ length: perRound }, () => {
    const features = [2 * random.next() - 1, 2 * random.next() - 1]
    const worth = chancesOf(features).map((chance, i) => chance - costs[i])
    const rewards = chancesOf(features).map((chance, i) => Number(random.next() < chance) - costs[i])
    return { features, worth, rewards }
  })
}

const learned = (optimizer, { features = 2, ...given } = {}) => ({
  async open(seed) {
    const options = names.map((name, i) => ({ name, cost: costs[i] }))
    const { choose, step } = await playerOf(optimizer, { options, features, ...given }, seed)
    const seen = (requests) => requests.map((request) => request.features.slice(0, features))
    return { choose: (requests, round) => choose(seen(requests), round), step }
  },
})
const constant = (chosenBy) => ({
  open: async (seed) => ({
    choose: async (requests, round) =>
      requests.map((request, i) => ({ chosen: chosenBy(request, rng('drawn', seed, round, i)) })),
    step: async () => {},
  }),
})

const arms = {
  'always small': constant(() => 0),
  'always large': constant(() => 1),
  'a draw': constant((_, random) => random.int(2)),
  'reinforce()': learned(reinforce()),
  'reinforce({ hidden: 8 })': learned(reinforce({ hidden: 8 })),
  'linUcb()': learned(linUcb()),
  'thompson()': learned(thompson()),
  'thompson(), no features': learned(thompson(), { features: 0 }),
  'the best choice': constant(({ worth }) => Number(worth[1] > worth[0])),
}

async function play(arm, seed) {
  const player = await arm.open(seed)
  const earnedIn = []
  let regret = 0
  for (let round = 0; round < rounds; round++) {
    const requests = requestsOf(seed, round)
    const made = await player.choose(requests, round)
    const earned = requests.map(({ rewards }, i) => rewards[made[i].chosen])
    for (const [i, { worth }] of requests.entries()) regret += Math.max(...worth) - worth[made[i].chosen]
    earnedIn.push(earned.reduce((a, b) => a + b, 0) / perRound)
    await player.step(made, earned, round)
  }
  return { all: meanOf(earnedIn), last: meanOf(earnedIn.slice(-Math.ceil(rounds / 4))), regret }
}

const results = {}
for (const [name, arm] of Object.entries(arms)) {
  results[name] = []
  for (let seed = 0; seed < seeds; seed++) results[name].push(await play(arm, seed))
}
console.log(`${seeds} seeds, ${rounds} rounds of ${perRound} requests; mean over seeds with its 95 % interval\n`)
console.log('| arm | reward, whole run | reward, last quarter | more than always large, last quarter | regret |')
console.log('|---|---|---|---|---|')
for (const [name, runs] of Object.entries(results)) {
  const over = runs.map(({ last }, seed) => last - results['always large'][seed].last)
  console.log(
    `| ${name} | ${interval(runs.map(({ all }) => all))} | ${interval(runs.map(({ last }) => last))} | ${interval(over)} | ${interval(
      runs.map(({ regret }) => regret),
      0,
    )} |`,
  )
}
