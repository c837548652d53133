// A learning run on real embedded models, as a process of its own. Arguments: the job, the store's file, and for `team` the
// files of the tiny job as JSON. `team`: two Parameters of weights, each on a model of its own, learn over rollouts.
// `traffic`: weights learn by practice, imitation and preferences from recorded traffic, of which the store is a copy.
// Goes on with the run that the store has, and prints every event.
import { readFileSync } from 'node:fs'
import { corpusFromJsonl, SearchEnvironment, tasksFromJsonl, verify } from '../dist/environment/index.js'
import * as ratchet from '../dist/index.js'
import { openEmbeddedModel } from '../dist/model/index.js'

const [job, path, given] = process.argv.slice(2)

// A run's chance hangs on its id, and its id on when it began and on this.
Math.random = () => 0.5
const onEvent = (event) => process.stdout.write(`${JSON.stringify(event)}\n`)
const opened = []
const open = async (options) => {
  const { service } = await openEmbeddedModel({ deterministic: true, ...options })
  opened.push(service)
  return service
}

const { defineAgent, rollouts, rubric, sequence, servedAgent, shadow, signal, traffic, user, verifier, weights } =
  ratchet
const { imitate, leaveOneOut, pairedGate, policyGradient, preferences } = ratchet

async function learnTeam(common) {
  const files = JSON.parse(given)
  const opens = { reference: files.model, renderer: 'compact' }
  const models = { planner: await open(opens), reader: await open(opens) }
  const base = files.model
  const team = defineAgent({
    name: 'team',
    parameters: { planner: weights({ base, rank: 8 }), reader: weights({ base, rank: 8 }) },
    async run(task, { planner, reader }, episode) {
      const plan = await planner.complete([user(task.instruction)])
      return reader.act([user(task.instruction)], episode, { from: [plan] })
    },
  })
  const lines = readFileSync(files.demonstrations, 'utf8').trim().split('\n')
  await ratchet.learn(team, {
    ...common,
    models,
    source: rollouts(
      new SearchEnvironment(corpusFromJsonl({ path: files.corpus })),
      tasksFromJsonl({ path: files.tasks }),
    ),
    prime: { demonstrations: lines.map((line) => JSON.parse(line)), parameter: 'reader' },
    reward: rubric({ solved: verifier(verify) }),
    credit: leaveOneOut(),
    optimize: {
      planner: policyGradient({ learningRate: 3e-3 }),
      reader: sequence(policyGradient({ learningRate: 3e-3 }), imitate()),
    },
    gate: pairedGate({ margin: 0, alpha: 0.25, lifetime: { alpha: 0.25 } }),
    budget: { turns: 4, tokensPerTurn: 6 },
    schedule: {
      primePasses: 7,
      augmentation: 0,
      updates: 2,
      tasks: 4,
      attempts: 4,
      validateEvery: 1,
      validationTasks: 8,
      holdoutTasks: 16,
    },
    deterministic: true,
  })
}

async function learnFromTraffic({ store, ...common }) {
  const model = await open({ reference: 'minimind2-small' })
  const recorded = await store.trajectories.summaries({ limit: 1_000 })
  const now = Math.max(...recorded.map(({ updatedAt }) => updatedAt)) + 3_600_000
  await ratchet.learn(servedAgent({ name: 'support', parameters: { model: weights({ base: model.base, rank: 4 }) } }), {
    ...common,
    store,
    model,
    source: traffic({ agent: 'support', window: '6h', settle: '10m', reporters: { share: 1 } }),
    reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
    optimize: { model: sequence(policyGradient({ learningRate: 1e-3, minibatches: 2 }), imitate(), preferences()) },
    schedule: { epochs: 2, demonstrationPasses: 2, preferencePasses: 1, imitate: { accepted: 0.5 } },
    release: shadow(),
    clock: { now: () => now },
  })
}

const store = await ratchet.openStore({ path })
const [begun] = await store.runs.list({ limit: 1 })
const common = { store, seed: 7, onEvent, ...(begun && { resume: begun.id }) }
if (begun?.status !== 'completed') await (job === 'team' ? learnTeam : learnFromTraffic)(common)
await store.close()
for (const service of opened) await service.close()
