/**
 * A Kind of your own, with its Optimizer: a choice among options that learns which one to take.
 *
 *   node examples/own-kind.mjs
 */
import {
  defineAgent,
  deploy,
  direct,
  learn,
  openMemoryStore,
  pairedGate,
  parameter,
  Registry,
  rollouts,
  rubric,
  Signal,
  signal,
  traffic,
  verifier,
} from 'ratchet-agents'
import { z } from 'zod'

const chancesOf = (preferences) => {
  const weights = preferences.map((preference) => Math.exp(preference))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}

/** The Kind: what is stored, what a decision holds, how a program uses it, and what it hands to its optimizer. */
const pick = {
  kind: 'pick',
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
  kind: 'pick',
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
  parameters: { route: parameter(pick, { options: ['sales', 'refunds'], preferences: [0, 0] }) },
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

const right = ({ state }) => Number(state.asked === 'refunds')

const tasks = ['train', 'validation', 'holdout'].flatMap((split) =>
  Array.from({ length: split === 'train' ? 16 : 60 }, (_, i) => ({
    id: `${split}-${i}`,
    instruction: `I want my money back for order ${i}.`,
    data: {},
    split,
  })),
)

const servingRoute = async (store) => {
  const { release } = await new Registry(store).current(agent.name)
  const { value } = await store.versions.get(release.versions.route)
  return value.value.options
    .map((option, i) => `${option} ${chancesOf(value.value.preferences)[i].toFixed(2)}`)
    .join(', ')
}
const heldOut = pairedGate({ margin: 0.02, alpha: 0.05 })

/** In practice: every task is attempted, and the episode's end is verified. */
async function overRollouts() {
  const store = await openMemoryStore()
  const { base, learned, decision } = await learn(agent, {
    store,
    source: rollouts(environment, tasks),
    reward: rubric({ solved: verifier(right) }),
    optimize: { route: reinforce(4) },
    gate: heldOut,
    schedule: { updates: 8, tasks: 8, attempts: 4, validateEvery: 4 },
  })
  console.log(`rollouts: ${base.success.toFixed(2)} → ${learned.success.toFixed(2)} (${decision})`)
  console.log(`rollouts: serves ${await servingRoute(store)}`)
  await store.close()
}

/** In production: each session is recorded as it is served, people say what it was worth, and a run learns from that. */
async function overTraffic() {
  const store = await openMemoryStore()
  const deployment = await deploy(agent, { store, environment })
  for (let i = 0; i < 60; i++) {
    const session = await deployment.run({
      instruction: `I want my money back for order ${i}.`,
      subject: `person-${i}`,
    })
    const [{ made }] = session.decisions
    const thumbs = { key: `thumbs-${i}`, trajectory: session.id, node: null, source: 'user', name: 'thumbs' }
    await store.signals.append([Signal.parse({ ...thumbs, value: made.chosen === 1, at: Date.now() })])
  }
  const holdout = tasks.filter(({ split }) => split === 'holdout')
  const evaluation = { agent, environment, holdout, reward: rubric({ solved: verifier(right) }) }
  const { learned, outcome } = await learn(agent, {
    store,
    source: traffic({ agent: agent.name, settle: '0s', reporters: { share: 1 }, evaluation }),
    reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
    optimize: { route: reinforce(8) },
    gate: heldOut,
    release: direct(),
  })
  console.log(`traffic: learned from ${learned.learners.route.credited} decisions (${outcome})`)
  console.log(`traffic: serves ${await servingRoute(store)}`)
  await deployment.close()
  await store.close()
}

await overRollouts()
await overTraffic()
