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
import { play } from '../dist/environment/index.js'
import { wilson } from '../dist/gate/index.js'
import { VersionId } from '../dist/core/index.js'
import { rng, user } from '../dist/index.js'
import { openEmbeddedModel } from '../dist/model/index.js'
import { rollout } from '../dist/rollout/index.js'
import { agentOf, reference, worlds } from './worlds.mjs'

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: 'mdn' },
    model: { type: 'string', default: reference },
    precision: { type: 'string', default: 'float32' },
    renderers: { type: 'string', default: 'compact,template' },
    shots: { type: 'string', default: '0,1,4,8' },
    tasks: { type: 'string', default: '200' },
    seed: { type: 'string', default: '0' },
  },
})
const numbers = (list) => list.split(',').map(Number)
const seed = Number(values.seed)

async function measure(opened, name, shots) {
  const { environment, tasks, expert, check } = worlds[name]((text) => opened.countTokens(text))
  const shown = rng('demonstrations', seed).shuffle(tasks.train).slice(0, 32)
  const plays = await Promise.all(shown.map((task) => play(environment, expert, task, check)))
  const before = plays.slice(0, shots).flatMap(({ messages }) => messages)
  const agent = {
    ...agentOf(name, values.model),
    run: (task, { model: policy }, episode) => policy.act([...before, user(task.instruction)], episode),
  }
  const turns = 2 * Math.max(...plays.map(({ actions }) => actions.length))
  const budget = { turns, tokensPerTurn: 64, tokens: 64 * turns, malformedCalls: 3, toolErrors: 3 }
  const measured = rng('few-shot', seed).shuffle(tasks.holdout).slice(0, Number(values.tasks))
  const { service } = opened
  const began = Date.now()
  const trajectories = await rollout({
    agent,
    environment,
    tasks: measured,
    batch: `${name}/${shots}`,
    now: () => Date.now(),
    bind: ({ seed, signal }) => ({
      model: {
        kind: 'weights',
        inForce: { version: VersionId.parse('base'), generation: 0, checkpoint: null },
        sampler: service.sampler,
        renderer: service.renderer,
        adapter: null,
        sampling: { temperature: 0 },
        budget,
        seed,
        signal,
        now: () => Date.now(),
      },
    }),
  })
  const solved = trajectories.filter(({ finalState }) => finalState !== null && check(finalState) === 1).length
  const ends = {}
  for (const { stopReason } of trajectories) ends[stopReason] = (ends[stopReason] ?? 0) + 1
  return {
    success: solved / measured.length,
    interval: wilson(solved, measured.length, 0.95),
    n: measured.length,
    ends,
    seconds: Math.round((Date.now() - began) / 1000),
  }
}

for (const renderer of values.renderers.split(',')) {
  const opened = await openEmbeddedModel({ reference: values.model, renderer, precision: values.precision })
  for (const world of values.worlds.split(','))
    for (const shots of numbers(values.shots)) {
      const row = await measure(opened, world, shots)
      console.log(JSON.stringify({ world, model: values.model, renderer, shots, seed, ...row }))
    }
  await opened.service.close()
}
process.exit(0)
