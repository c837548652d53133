/**
 * The figures of finished main-job runs, from their stores: each arm's success on the held-out tasks that judge, and
 * the paired differences with their 95 % intervals (the interval that is dual to the gate's test).
 *
 *   npm run build && node scripts/main-job-figures.mjs STORE_FOLDER…
 */
import { join } from 'node:path'
import { pairedInterval, wilson } from '../dist/gate/index.js'
import { openStore } from '../dist/store/index.js'

const percent = (share) => (share * 100).toFixed(1)
const bounds = ([low, high]) => `[${percent(low)}, ${percent(high)}]`

/** Scores by task of one arm's held-out episodes, of the given tier; missing evidence is left out. */
function scoresOf(records, arm, tier) {
  const scores = new Map()
  for (const { trajectory, reward } of records) {
    const { id, task } = trajectory
    if (id.includes(`/holdout/${arm}/`) && task.tier === tier && reward.value !== null)
      scores.set(task.id, reward.value)
  }
  return scores
}

for (const folder of process.argv.slice(2)) {
  const store = await openStore({ path: join(folder, 'ratchet.db'), readonly: true })
  const [run] = await store.runs.list({ limit: 1 })
  const records = await store.trajectories.list({ run: run.id, limit: 1_000_000 })
  const events = await store.runs.events(run.id)
  const learning = events.findLast(({ type }) => type === 'updated')?.data.seconds
  console.log(`seed ${run.seed}: priming and updates took ${learning.toFixed(0)} s`)
  for (const tier of ['single-hop', 'composed', 'single-hop reworded', 'composed reworded']) {
    const arms = new Map()
    for (const arm of ['base', 'primed', 'control', 'learned']) {
      const scores = scoresOf(records, arm, tier)
      if (scores.size === 0) continue
      arms.set(arm, scores)
      const successes = [...scores.values()].filter((score) => score >= 1).length
      const interval = bounds(wilson(successes, scores.size, 0.95))
      console.log(`  ${tier} ${arm}: ${percent(successes / scores.size)} % ${interval}, n = ${scores.size}`)
    }
    const learned = arms.get('learned')
    for (const arm of ['primed', 'control']) {
      const other = arms.get(arm)
      if (!learned || !other) continue
      const differences = [...learned]
        .filter(([task]) => other.has(task))
        .map(([task, score]) => score - other.get(task))
      const mean = differences.reduce((sum, difference) => sum + difference, 0) / differences.length
      console.log(`  ${tier} learned − ${arm}: ${percent(mean)} points ${bounds(pairedInterval(differences, 1, 0.95))}`)
    }
  }
  await store.close()
}
