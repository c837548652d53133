// A process to kill: writes to the store at argv[2] (a file, or a database's URL) for as long as it lives, and prints one
// JSON line after each promise that resolved. Its writes overlap, so that group commits, transactions and blobs are all
// under way when it dies. What the database fails for the moment, it asks for again, as a client would.
import { writeSync } from 'node:fs'
import { mintVersion } from '../dist/core/index.js'
import { openStore } from '../dist/store/index.js'

const [location, round] = process.argv.slice(2)
const acknowledge = (line) => writeSync(1, `${JSON.stringify(line)}\n`)

let store
try {
  store = await openStore(location.startsWith('postgres') ? { url: location } : { path: location })
} catch (error) {
  acknowledge({ refused: error.code, message: error.message })
  process.exit(1)
}
acknowledge({ opened: process.pid })

const run = `run-${round}`
const created = {
  id: run,
  agent: 'support',
  config: {},
  seed: 1,
  status: 'running',
  versionsIn: {},
  versionsOut: null,
  receipt: null,
  release: null,
  failure: null,
  startedAt: 1,
  endedAt: null,
}
await insist(() => store.runs.create(created))
acknowledge({ run })

await Promise.all([trajectories('a'), trajectories('b'), checkpoints(), activations()])

/** Does it until it is done. Every write here is the same record again, or a new generation. */
async function insist(write) {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!['store/connection-lost', 'store/unknown-outcome', 'store/unreachable'].includes(error.code)) throw error
      acknowledge({ failed: error.code })
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

async function trajectories(lane) {
  for (let i = 0; ; i++) {
    const ids = [0, 1, 2].map((k) => `${round}-${lane}-${i}-${k}`)
    await insist(() => store.trajectories.append(ids.map((id) => recorded(id))))
    acknowledge({ trajectories: ids })
  }
}

async function checkpoints() {
  for (let sequence = 0; ; sequence++) {
    const adapter = await insist(() => store.blobs.put(Buffer.from(`adapter ${round} ${sequence} `.repeat(2000))))
    const checkpoint = { run, sequence, state: { sequence }, blobs: { adapter }, at: sequence }
    await insist(() => store.runs.saveCheckpoint(checkpoint))
    acknowledge({ checkpoint: sequence, adapter })
  }
}

async function activations() {
  for (let i = 0; ; i++) {
    const activateNext = async (tx) => {
      const version = mintVersion('system', { kind: 'text', text: `${round} ${i}` }, { parents: [], run })
      await tx.versions.put(version)
      await new Promise((resolve) => setImmediate(resolve))
      const release = {
        id: `${round}-${i}`,
        agent: 'support',
        versions: { system: version.id },
        receipt: null,
        run: null,
        createdAt: i,
      }
      await tx.releases.put(release)
      const generation = ((await tx.releases.current('support'))?.generation ?? 0) + 1
      await tx.releases.activate({ agent: 'support', release: release.id, reason: 'rollback', generation, at: i })
      return generation
    }
    const generation = await insist(() => store.transaction(activateNext))
    acknowledge({ generation, release: `${round}-${i}` })
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

function recorded(id) {
  const trajectory = {
    id,
    origin: { kind: 'rollout' },
    task: { id: 'task', instruction: `${id} `.repeat(300), split: 'train' },
    group: 'group',
    attempt: 0,
    seed: 1,
    nodes: [],
    steps: [],
    decisions: [],
    toolsets: {},
    stopReason: 'done',
    failure: null,
    finalState: null,
    startedAt: 1,
    seconds: 1,
  }
  return { trajectory, reward: { status: 'scored', value: 1, parts: {} }, run }
}
