// Learns the hotel's front desk with the default recipe: node examples/hotel/run.mjs [SEED]
import {
  brokenCalls,
  defineAgent,
  learn,
  openStore,
  progress,
  rollouts,
  rubric,
  verifier,
  weights,
} from 'ratchet-agents'
import { play } from 'ratchet-agents/environment'
import { openEmbeddedModel } from 'ratchet-agents/model'
import { check, environment, expert, hotelTasks, toDemonstrate } from './hotel.mjs'

const seed = Number(process.argv[2] ?? 0)
const { service: model } = await openEmbeddedModel({
  reference: 'minimind2-small',
  renderer: 'compact',
  precision: 'auto',
})
const store = await openStore({ path: `.ratchet/hotel-${seed}.db` })
const tasks = hotelTasks(seed)
const shown = toDemonstrate(tasks, 32).map((task) => play(environment, expert, task, check))
const clerk = defineAgent({
  name: 'hotel-clerk',
  parameters: { model: weights({ base: 'minimind2-small' }) },
  run: (_task, { model }, episode) => model.act(episode.opening, episode),
})
const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
const { decision, base, primed, learned, seconds } = await learn(clerk, {
  model,
  store,
  seed,
  source: rollouts(environment, tasks),
  prime: { demonstrations: await Promise.all(shown) },
  reward: rubric({ solved: verifier(check) }, { guards: [brokenCalls()] }),
  onEvent: progress(),
  signal: stop.signal,
})
console.log(JSON.stringify({ decision, base, primed, learned, seconds }, null, 2))
await store.close()
await model.close()
