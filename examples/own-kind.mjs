/**
 * A Kind of your own, with its Optimizer: a choice among options that learns which one to take.
 *
 *   node examples/own-kind.mjs
 */
import {
  defineAgent,
  learn,
  openMemoryStore,
  pairedGate,
  parameter,
  Registry,
  rollouts,
  rubric,
  verifier,
} from 'ratchet-agents'
import { z } from 'zod'

const chancesOf = (preferences) => {
  const weights = preferences.map((preference) => Math.exp(preference))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}

/** The Kind: what is stored, what a decision holds, how a program uses it, and what it hands to its optimizer. */
const choice = {
  kind: 'choice',
  value: z.strictObject({ options: z.array(z.string()).min(2), preferences: z.array(z.number()) }),
  made: z.strictObject({ chosen: z.int(), chances: z.array(z.number()) }),
  handle: ({ value, rng }, recorder) => ({
    choose() {
      const chances = chancesOf(value.preferences)
      let left = rng.next()
      const chosen = Math.max(
        0,
        chances.findIndex((chance) => (left -= chance) < 0),
      )
      recorder.decide({ made: { chosen, chances }, propensity: { log: Math.log(chances[chosen]) } })
      return value.options[chosen]
    },
  }),
  deposit: (decided) =>
    decided.flatMap(({ made, credit: { advantage } }) => (advantage === null ? [] : [{ ...made, advantage }])),
}

/** Its Optimizer: REINFORCE. What did better than expected is preferred more (Williams 1992). */
const reinforce = (learningRate) => ({
  name: 'reinforce',
  kind: 'choice',
  async open({ value }, saved) {
    let preferences = saved?.state ?? value.preferences
    const now = async () => ({ ...value, preferences })
    return {
      bound: now,
      propose: now,
      save: async () => ({ state: preferences }),
      async step(deposits) {
        const gradientOf = (option) =>
          deposits.reduce((sum, { chosen, chances, advantage }) => {
            return sum + (advantage * ((chosen === option ? 1 : 0) - chances[option])) / deposits.length
          }, 0)
        preferences = preferences.map((preference, option) => preference + learningRate * gradientOf(option))
        return { surest: Math.max(...chancesOf(preferences)) }
      },
    }
  },
})

/** An agent whose only Parameter is a choice: it asks one of two desks, of which `refunds` knows what to do. */
const agent = defineAgent({
  name: 'front-desk',
  parameters: { route: parameter(choice, { options: ['sales', 'refunds'], preferences: [0, 0] }) },
  async run(_task, { route }, episode) {
    await episode.step({ kind: 'message', content: route.choose() })
    return { stopReason: 'done', message: null }
  },
})

/** An episode is one question to one desk. */
const environment = {
  name: 'desks',
  async open() {
    let asked = null
    return {
      opening: [],
      tools: [],
      async step({ content }) {
        asked = content
        return { messages: [], done: true }
      },
      close: async () => ({ state: { asked }, counts: {} }),
    }
  },
}

const tasks = ['train', 'validation', 'holdout'].flatMap((split) =>
  Array.from({ length: split === 'train' ? 16 : 60 }, (_, i) => ({
    id: `${split}-${i}`,
    instruction: `I want my money back for order ${i}.`,
    data: {},
    split,
  })),
)

const store = await openMemoryStore()
const reward = rubric({ solved: verifier(({ state }) => Number(state.asked === 'refunds')) })
const servingRoute = async () => {
  const { release } = await new Registry(store).current(agent.name)
  const { value } = await store.versions.get(release.versions.route)
  return chancesOf(value.value.preferences).map((chance) => chance.toFixed(2))
}

const summary = await learn(agent, {
  store,
  source: rollouts(environment, tasks),
  reward,
  optimize: { route: reinforce(4) },
  gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
  schedule: { updates: 8, tasks: 8, attempts: 4, validateEvery: 4 },
})
console.log(
  `over rollouts: ${summary.base.success.toFixed(2)} → ${summary.learned.success.toFixed(2)}, ${summary.decision}`,
)
console.log(`what serves takes sales, refunds with ${await servingRoute()}`)
await store.close()
