/**
 * What two deterministic runs come to, as hashes: a short main job, and a run from a recorded traffic store. A change that
 * must not change behaviour leaves them as they are. Bits depend on the CPU's kernels: compare on one machine.
 *
 *   npx tsc -b && node scripts/run-hashes.mjs                     prints the hashes
 *   node scripts/run-hashes.mjs --dist OTHER/dist                 of another build
 *   node scripts/run-hashes.mjs --record test/fixtures/traffic.db records the traffic anew
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { pathToFileURL } from 'node:url'

const { values } = parseArgs({
  options: {
    dist: { type: 'string', default: 'dist' },
    record: { type: 'string' },
    traffic: { type: 'string', default: 'test/fixtures/traffic.db' },
  },
})
const dist = resolve(values.dist)
const load = (path) => import(pathToFileURL(join(dist, path)).href)
const { learn, openStore, policyGradient, rubric, servedAgent, signal, traffic, weights } = await load('index.js')

const sha256 = (text) => createHash('sha256').update(text).digest('hex')
/** What took how long, and when, is no behaviour; ids that follow from it neither. */
const untimed = (value) =>
  JSON.stringify(value, (key, inner) =>
    /seconds|At$|^at$|perSecond|runId|^run$|^receipt$|^release/i.test(key) ? undefined : inner,
  )

/** The main job, cut short. Bits of every sampled token are in the trajectories. */
async function mainJob(folder) {
  const config = join(folder, 'short.json')
  const schedule = {
    primePasses: 3,
    updates: 2,
    tasks: 8,
    attempts: 4,
    validateEvery: 1,
    validationTasks: 12,
    holdoutTasks: 24,
  }
  await writeFile(config, JSON.stringify({ schedule }))
  const store = join(folder, 'main-job')
  const args = [
    'learn',
    '--new-store',
    '--deterministic',
    '--json',
    '--seed',
    '7',
    '--config',
    config,
    '--store',
    store,
  ]
  const child = spawn(process.execPath, [join(dist, 'cli/main.js'), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`The main job ended with ${code}.`)
  return hashesOf(join(store, 'ratchet.db'))
}

/** A run from the recorded traffic, an hour after the recording ended. Its chance hangs on its id, which gets no chance here. */
async function trafficRun(folder) {
  Math.random = () => 0.5
  const path = join(folder, 'ratchet.db')
  await copyFile(values.traffic, path)
  const { openEmbeddedModel } = await load('model/index.js')
  const { service } = await openEmbeddedModel({ reference: 'minimind2-small', deterministic: true })
  const store = await openStore({ path })
  try {
    const recorded = await store.trajectories.summaries({ limit: 1_000 })
    const now = Math.max(...recorded.map(({ updatedAt }) => updatedAt)) + 3_600_000
    await learn(servedAgent({ name: 'support', parameters: { model: weights({ base: service.base, rank: 4 }) } }), {
      model: service,
      store,
      source: traffic({ agent: 'support', window: '6h', settle: '10m', reporters: { share: 1 } }),
      reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
      optimize: { model: policyGradient({ learningRate: 1e-3, minibatches: 2 }) },
      schedule: { epochs: 2, imitate: { accepted: 0.5 } },
      seed: 7,
      clock: { now: () => now },
    })
  } finally {
    await store.close()
    await service.close()
  }
  return hashesOf(path)
}

/** Adapters by name, and one hash each of the run's events and of all trajectories. */
async function hashesOf(path) {
  const store = await openStore({ path, readonly: true })
  const [run] = await store.runs.list({ limit: 1 })
  const events = (await store.runs.events(run.id)).map(({ type, data }) => [type, data])
  const trajectories = (await store.trajectories.list({ run: run.id, limit: 100_000 })).map(({ trajectory, reward }) =>
    untimed([trajectory, reward]).replaceAll(run.id, ''),
  )
  const { blobs } = await store.runs.latestCheckpoint(run.id)
  await store.close()
  return {
    adapters: blobs,
    events: sha256(untimed(events).replaceAll(run.id, '')),
    trajectories: sha256(trajectories.toSorted().join('\n')),
    counted: { events: events.length, trajectories: trajectories.length },
  }
}

/** Twenty sessions of an agent on the small model, with what its users said. */
async function record(target, folder) {
  const config = join(folder, 'serve.json')
  const port = 18_787
  await writeFile(config, JSON.stringify({ agents: [{ name: 'support', model: 'minimind2-small', rank: 4 }], port }))
  const store = join(folder, 'recorded')
  const child = spawn(process.execPath, [join(dist, 'cli/main.js'), 'serve', '--config', config, '--store', store])
  const ask = async (path, body, session) => {
    const headers = { 'content-type': 'application/json', 'ratchet-agent': 'support', 'ratchet-session': session }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(await response.text())
    return response.json()
  }
  try {
    for (;;) {
      if (
        await fetch(`http://127.0.0.1:${port}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        )
      )
        break
      await new Promise((later) => setTimeout(later, 200))
    }
    for (let i = 0; i < 20; i++) {
      const session = `visit-${i}`
      const messages = [{ role: 'user', content: `Where is order ${i}?` }]
      const limits = { max_tokens: 24, seed: i, stop: ['.', '!'] }
      const first = await ask('/v1/chat/completions', { model: 'minimind2-small', messages, ...limits }, session)
      const said = first.choices[0].message.content
      if (i % 3 === 0) {
        messages.push({ role: 'assistant', content: said }, { role: 'user', content: 'And when does it come?' })
        await ask('/v1/chat/completions', { model: 'minimind2-small', messages, ...limits }, session)
      }
      await ask('/ratchet/signals', { session, name: 'thumbs', value: i % 2 === 0 }, session)
      if (i % 5 === 4) {
        const value = { kind: 'edit', text: `Order ${i} is on its way.` }
        await ask('/ratchet/signals', { response: first.id, name: 'edit', value }, session)
      }
    }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
  await copyFile(join(store, 'ratchet.db'), target)
}

const folder = await mkdtemp(join(tmpdir(), 'ratchet-hashes-'))
try {
  if (values.record !== undefined) await record(values.record, folder)
  else {
    const cpu = cpus()[0]?.model ?? 'unknown'
    console.log(JSON.stringify({ cpu, mainJob: await mainJob(folder), traffic: await trafficRun(folder) }, null, 2))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exit(0)
