/**
 * What learning together brings: the post room of `examples/joint.mjs`, with weights alone, weights and one other part, and all
 * four in one run. Success on 85 held-out tasks after the same updates; each seed is its own run.
 *
 *   node scripts/joint-evidence.mjs [seeds] [updates] [first seed]
 *
 * Every arm begins with the same imitation of labels, without which nothing arrives. Minutes for each seed.
 */
import { openEmbeddedModel } from '../dist/model/index.js'
import { learn, openMemoryStore, rollouts } from '../dist/index.js'
import { agent, demonstrations, environment, gate, optimize, solved, tasks } from '../examples/joint/post-room.mjs'

const seeds = Number(process.argv[2] ?? 5)
const updates = Number(process.argv[3] ?? 4)
const first = Number(process.argv[4] ?? 0)

const { model: weights, ...others } = optimize
const arms = {
  'weights alone': { model: weights },
  ...Object.fromEntries(
    Object.entries(others).map(([name, one]) => [`weights and ${name}`, { model: weights, [name]: one }]),
  ),
  'all four': optimize,
}

async function run(learns, seed) {
  const { service: model } = await openEmbeddedModel({ reference: 'minimind2-small', renderer: 'compact' })
  const store = await openMemoryStore()
  const summary = await learn(agent, {
    model,
    store,
    seed,
    source: rollouts(environment, tasks),
    reward: solved,
    prime: { demonstrations },
    optimize: learns,
    gate,
    budget: { turns: 2, tokensPerTurn: 12, tokens: 24 },
    schedule: {
      primePasses: 8,
      updates,
      tasks: 10,
      attempts: 2,
      validateEvery: 4,
      imitation: 8,
      patience: null,
      augmentation: 0,
      rewording: 0,
      explorationTasks: 0,
      rounds: 1,
    },
  })
  await store.close()
  await model.close()
  return summary
}

/** Student's t for a 95 % interval, by degrees of freedom (Abramowitz & Stegun 26.10). */
const t95 = { 1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262 }
function interval(values) {
  const mean = values.reduce((a, b) => a + b, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  const half = (t95[values.length - 1] ?? 1.96) * Math.sqrt(variance / values.length)
  return values.length < 2 ? mean.toFixed(3) : `${mean.toFixed(3)} ± ${half.toFixed(3)}`
}

const success = Object.fromEntries(Object.keys(arms).map((name) => [name, []]))
for (let seed = first; seed < first + seeds; seed++) {
  for (const [name, learns] of Object.entries(arms)) {
    const { learned, brought = [] } = await run(learns, seed)
    success[name].push(learned.success ?? 0)
    const parts = brought.map(({ parameter, difference }) => `${parameter} ${difference?.toFixed(2)}`).join(', ')
    console.error(`seed ${seed}, ${name}: ${learned.success?.toFixed(3)} (${parts || 'one part'})`)
  }
}
console.log(`${seeds} seeds, ${updates} updates; held-out success, mean over seeds with its 95 % interval\n`)
console.log('| what learns | success | all four, less it |')
console.log('|---|---|---|')
for (const [name, values] of Object.entries(success)) {
  const less = success['all four'].map((all, i) => all - values[i])
  console.log(`| ${name} | ${interval(values)} | ${name === 'all four' ? '' : interval(less)} |`)
}
