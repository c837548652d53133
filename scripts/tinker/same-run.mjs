/**
 * One and the same run of learning, on the main job, by three trainers: the embedded engine, our server over HTTP, and
 * SkyRL's own. Only the line that opens the model differs. Prints what each comes to, a JSON object a line.
 *
 *   npx tsc -b && node scripts/tinker/same-run.mjs --skyrl PYTHON [--trainers embedded,ours,skyrl] [--seeds 0,1,2]
 *     [--passes 16] [--updates 8] [--holdout 100] [--rows FILE] [--verbose]
 *
 * `--skyrl` is the Python of the environment that docs/trainers.md installs; without it SkyRL's server is left out.
 */
import { execFileSync } from 'node:child_process'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brokenCalls, learn, openStore, repetition, rollouts, rubric, verifier } from '../../dist/index.js'
import { openEmbeddedModel } from '../../dist/model/index.js'
import { openTinkerModel } from '../../dist/model/tinker/index.js'
import { measuredHere } from '../rows.mjs'
import { agentOf, demonstrationsOf, worlds } from '../worlds.mjs'
import { ourServer, script, served } from './servers.mjs'

const { values } = parseArgs({
  options: {
    skyrl: { type: 'string' },
    trainers: { type: 'string' },
    seeds: { type: 'string', default: '0' },
    passes: { type: 'string', default: '16' },
    updates: { type: 'string', default: '8' },
    holdout: { type: 'string', default: '100' },
    rows: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
})
const trainers = values.trainers?.split(',') ?? ['embedded', 'ours', ...(values.skyrl ? ['skyrl'] : [])]
if (trainers.includes('skyrl') && !values.skyrl) throw new Error('Say which Python has SkyRL: --skyrl PYTHON')

/** As SkyRL's server is started: LoRA of rank 8, alpha 32. */
const method = { kind: 'lora', rank: 8, alpha: 32 }
const folder = await mkdtemp(join(tmpdir(), 'ratchet-same-run-'))
const base = join(folder, 'minimind2-small')
execFileSync(process.execPath, [script('model-folder.mjs'), base])

/** Opens the model by each trainer. What ends it goes to `ends`. */
const open = {
  embedded: () => openEmbeddedModel({ reference: base, renderer: 'compact', precision: 'float32' }),
  async ours(ends) {
    const { service } = await openEmbeddedModel({ reference: base, precision: 'float32' })
    ends.push(() => service.close())
    const scaled = {
      base,
      sampler: service.sampler,
      loadAdapter: (saved) => service.loadAdapter(saved),
      trainer: (lora, seed) => service.trainer({ ...lora, alpha: method.alpha }, seed),
    }
    const url = await ourServer(scaled, await mkdtemp(join(folder, 'ours-')), ends)
    return openTinkerModel({ url, baseModel: base, renderer: 'compact' })
  },
  async skyrl(ends) {
    const kept = await mkdtemp(join(folder, 'skyrl-'))
    const url = await served(values.skyrl, (port) => [script('serve-skyrl.py'), base, kept, `${port}`], ends)
    return openTinkerModel({ url, baseModel: base, renderer: 'compact', server: 'skyrl-jax' })
  },
}

/** The run. */
async function run(trainer, seed) {
  const began = Date.now()
  const ends = []
  const losses = []
  const updates = []
  try {
    const opened = await open[trainer](ends)
    ends.push(() => opened.service.close())
    const store = await openStore({ path: join(await mkdtemp(join(folder, 'store-')), 'ratchet.db') })
    ends.push(() => store.close())
    const world = worlds.mdn((text) => opened.countTokens(text))
    const demonstrations = await demonstrationsOf(world, { count: 32, seed })
    const { environment, tasks, check } = world
    const { primed, learned, decision } = await learn(agentOf('main-job', base), {
      model: opened.service,
      store,
      source: rollouts(environment, [...tasks.train, ...tasks.validation, ...tasks.holdout]),
      prime: { demonstrations },
      reward: rubric({ solved: verifier(check) }, { guards: [brokenCalls(), repetition()] }),
      method,
      schedule: {
        primePasses: Number(values.passes),
        updates: Number(values.updates),
        tasks: 16,
        attempts: 4,
        validationTasks: 60,
        holdoutTasks: Number(values.holdout),
        // A Tinker server draws at temperature 1 and keeps the weights: all three do as it does.
        temperature: 1,
        explorationTemperature: 1,
        averaging: 0,
        patience: null,
      },
      seed,
      onEvent(event) {
        if (event.type === 'primed') losses.push(event.metrics.loss)
        if (event.type === 'updated') updates.push(event.rollouts.success)
        if (values.verbose && event.type !== 'progress') console.error(trainer, JSON.stringify(event).slice(0, 300))
      },
    })
    const seconds = (Date.now() - began) / 1000
    return { ...measuredHere(), trainer, seed, seconds, primed, learned, decision, losses, updates }
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

try {
  for (const seed of values.seeds.split(',').map(Number)) {
    for (const trainer of trainers) {
      const row = JSON.stringify(await run(trainer, seed))
      console.log(row)
      if (values.rows) await appendFile(values.rows, `${row}\n`)
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exit()
