/**
 * Four parts of one agent learn in one run: weights, a memory, a text and a choice. Its report says which brought what.
 *
 *   node examples/joint.mjs            from practice: minutes
 *   node examples/joint.mjs --traffic  from recorded sessions: the same program, and only the source is another
 *   --quick                            less of it
 *
 * A post room. "Send the heavy lamp to Ada." Four things have to be right, and no prompt states one of them:
 * - what goes to whom, as a label: the model's weights learn to write it;
 * - in which bay the person sits: a memory keeps where parcels arrived;
 * - that this house wants the bell rung: a text gets a worked example;
 * - that heavy things need the cart: a choice learns it.
 */
import { writeFile } from 'node:fs/promises'
import { deploy, direct, learn, openMemoryStore, outcome, rollouts, rubric, Signal, traffic } from 'ratchet-agents'
import { openEmbeddedModel } from 'ratchet-agents/model'
import { renderReport, reportOf } from 'ratchet-agents/report'
import { agent, arrived, demonstrations, environment, gate, optimize, solved, tasks } from './joint/post-room.mjs'

const quick = process.argv.includes('--quick')
const { service: model } = await openEmbeddedModel({
  reference: 'minimind2-small',
  renderer: 'compact',
  precision: 'auto',
})
const store = await openMemoryStore()
const budget = { turns: 2, tokensPerTurn: 12, tokens: 24 }

/** From practice: every task is attempted, and its end is verified. */
const practise = (learns, updates) =>
  learn(agent, {
    model,
    store,
    source: rollouts(environment, tasks),
    reward: solved,
    prime: { demonstrations },
    optimize: learns,
    gate,
    budget,
    schedule: {
      primePasses: updates === 0 ? 12 : 8,
      updates,
      tasks: quick ? 10 : 16,
      attempts: quick ? 2 : 4,
      validateEvery: 4,
      imitation: quick ? 8 : 64,
      patience: null,
      // Which bay is right depends on the name, and there is one way to ask.
      augmentation: 0,
      rewording: 0,
      explorationTasks: 0,
      rounds: 1,
    },
    onEvent: tell,
  })

/** From production: each session is recorded as it is served, and whoever waits for the parcel says whether it came. */
async function fromTraffic() {
  const asked = tasks.filter(({ split }) => split === 'train')
  await serve([...asked, ...asked])
  return learn(agent, {
    model,
    store,
    source: traffic({
      agent: agent.name,
      settle: '0s',
      reporters: { share: 1 },
      evaluation: {
        agent,
        environment,
        holdout: tasks.filter(({ split }) => split === 'holdout'),
        reward: solved,
        budget,
      },
    }),
    reward: rubric({ arrived: outcome('arrived', { values: { false: 0 } }) }),
    optimize,
    gate,
    release: direct(),
  })
}

async function serve(parcels) {
  const came = new Map()
  const watched = {
    ...environment,
    open(task) {
      const parcel = environment.open(task)
      const close = () => {
        const end = parcel.close()
        came.set(task.data.number, arrived(end) === 1)
        return end
      }
      return { ...parcel, close }
    },
  }
  const deployment = await deploy(agent, { store, environment: watched, model, budget })
  const deliver = async ({ instruction, data }, number) => {
    const { id } = await deployment.run({ instruction, data: { ...data, number } })
    const said = { key: id, trajectory: id, node: null, source: 'outcome', name: 'arrived', at: Date.now() }
    await store.signals.append([Signal.parse({ ...said, value: came.get(number) })])
  }
  await Promise.all(parcels.map(deliver))
  await deployment.close()
}

function tell(event) {
  if (event.type !== 'updated') return
  const { update, rollouts: attempts } = event
  console.log(`  update ${update}: ${Math.round(100 * (attempts.success ?? 0))} % of attempts arrive`)
}

/** What each part brought, by leave-one-out. */
function tellParts({ brought = [] }) {
  for (const { parameter, kind, difference, ci, verdict } of brought) {
    const range = ci.map((end) => end.toFixed(2)).join(', ')
    console.log(`  ${parameter} (${kind}) brought ${difference?.toFixed(2)} [${range}]: ${verdict}`)
  }
}

let run
if (process.argv.includes('--traffic')) {
  // The model can write labels by the time it serves; all else it learns there.
  await practise({ model: optimize.model }, 0)
  run = await fromTraffic()
  console.log(`traffic: learned from ${run.learned.sessions} sessions (${run.outcome})`)
} else {
  run = await practise(optimize, quick ? 4 : 12)
  console.log(`practice: ${run.base.success?.toFixed(2)} → ${run.learned.success?.toFixed(2)} (${run.decision})`)
}
tellParts(run)
await writeFile('joint.html', renderReport(await reportOf(store, run.runId)))
console.log('joint.html shows it')
await store.close()
await model.close()
