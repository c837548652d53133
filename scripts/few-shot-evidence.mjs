/**
 * Few-shot prompts, the arm beside learning: base weights are shown demonstrations as a conversation before each question, and
 * nothing is learned. One JSON object a line for each world, renderer and number of demonstrations.
 *
 *     npx tsc -b && node scripts/few-shot-evidence.mjs --model smollm2-135m --worlds mdn,desk --shots 0,1,4,8 [--seed 0]
 *       [--renderers compact,template] [--tasks 200] [--precision int8]
 *
 * Demonstrations are the first of those that a run of learning with this seed imitates; tasks are held-out ones. An episode may
 * take twice the turns of the longest demonstration, and goes on after calls that were refused, or could not be read, twice.
 */
import { parseArgs } from 'node:util'
import { wilson } from '../dist/gate/index.js'
import { rng, user } from '../dist/index.js'
import { openEmbeddedModel } from '../dist/model/index.js'
import { greedyAttempts } from './attempts.mjs'
import { agentOf, demonstrationsOf, reference, worlds } from './worlds.mjs'

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: 'mdn' },
    model: { type: 'string', default: reference },
    precision: { type: 'string', default: 'auto' },
    renderers: { type: 'string', default: 'compact,template' },
    shots: { type: 'string', default: '0,1,4,8' },
    tasks: { type: 'string', default: '200' },
    seed: { type: 'string', default: '0' },
  },
})
const numbers = (list) => list.split(',').map(Number)
const seed = Number(values.seed)

/** The world of a name, with what is shown, asked and allowed in it. */
async function prepared(opened, name) {
  const world = worlds[name]((text) => opened.countTokens(text))
  const shown = await demonstrationsOf(world, { count: 32, seed })
  const turns = 2 * Math.max(...shown.map(({ actions }) => actions.length))
  const budget = { turns, tokensPerTurn: 64, tokens: 64 * turns, malformedCalls: 3, toolErrors: 3 }
  const asked = rng('few-shot', seed).shuffle(world.tasks.holdout).slice(0, Number(values.tasks))
  return { ...world, name, shown, budget, asked }
}

async function measure({ service }, { name, environment, check, shown, budget, asked }, shots) {
  const before = shown.slice(0, shots).flatMap(({ messages }) => messages)
  const agent = {
    ...agentOf(name, values.model),
    run: (task, { model: policy }, episode) => policy.act([...before, user(task.instruction)], episode),
  }
  const began = Date.now()
  const batch = `${name}/${shots}`
  const trajectories = await greedyAttempts(service, { agent, environment, tasks: asked, batch, adapter: null, budget })
  const solved = trajectories.filter(({ finalState }) => finalState !== null && check(finalState) === 1).length
  const ends = {}
  for (const { stopReason } of trajectories) ends[stopReason] = (ends[stopReason] ?? 0) + 1
  return {
    success: solved / asked.length,
    interval: wilson(solved, asked.length, 0.95),
    n: asked.length,
    ends,
    seconds: Math.round((Date.now() - began) / 1000),
  }
}

for (const renderer of values.renderers.split(',')) {
  const opened = await openEmbeddedModel({ reference: values.model, renderer, precision: values.precision })
  for (const name of values.worlds.split(',')) {
    const world = await prepared(opened, name)
    for (const shots of numbers(values.shots)) {
      const row = await measure(opened, world, shots)
      const { precision } = opened
      console.log(JSON.stringify({ world: name, model: values.model, precision, renderer, shots, seed, ...row }))
    }
  }
  await opened.service.close()
}
process.exit(0)
