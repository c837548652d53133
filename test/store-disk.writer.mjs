// Run in a mount namespace of its own, which goes with it: a small disk at argv[2], and the store on it in argv[3]
// (`main` or `worker`). Fills the disk, sees what fails and how, makes room, and looks for what was acknowledged.
// Prints what happened as one line of JSON.
import { execFileSync, spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openStore } from '../dist/store/index.js'

const [disk, thread, part = 'all'] = process.argv.slice(2)
const path = join(disk, 'ratchet.db')
const parts = { all, full, 'append-for-ever': appendForEver, make, look }
const report = await parts[part]()
console.log(JSON.stringify(report))

/** Each in a process of its own: on Node 20 a closed database is open until it is collected, and holds its disk. */
async function all() {
  const run = (name) => JSON.parse(execFileSync(process.execPath, [fileURLToPath(import.meta.url), disk, thread, name]))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=5m', 'tmpfs', disk])
  const filled = run('full')
  const killed = await killedWhileFull()
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=5m', 'tmpfs', disk])
  const made = run('make')
  execFileSync('mount', ['-o', 'remount,ro', disk])
  return { filled, killed, readOnly: { ...made, ...run('look') } }
}

/** What a promise came to: `ok`, or the code of its error. */
function outcome(promise) {
  return promise.then(
    () => 'ok',
    (error) => error.code ?? String(error),
  )
}

async function appendForEver() {
  const store = await openStore({ path, thread })
  for (let i = 0; ; i++) {
    const id = `killed-${i}`
    const result = await outcome(store.trajectories.append([recorded(id)]))
    process.stdout.write(`${JSON.stringify({ [result]: id })}\n`)
  }
}

async function full() {
  writeFileSync(join(disk, 'ballast'), Buffer.alloc(2 << 20))
  const store = await openStore({ path, thread })
  const acknowledged = []
  const failures = {}
  await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (lane) => {
      for (let i = 0; i < 300; i++) {
        const id = `${lane}-${i}`
        const result = await outcome(store.trajectories.append([recorded(id)]))
        if (result === 'ok') acknowledged.push(id)
        else failures[result] = (failures[result] ?? 0) + 1
      }
    }),
  )
  const found = {
    failures,
    transaction: await outcome(store.transaction((tx) => tx.trajectories.append([recorded('tx', 400_000)]))),
    blob: await outcome(store.blobs.put(Buffer.alloc(4 << 20))),
    backup: await outcome(store.backup(join(disk, 'copy'))),
    otherStore: await outcome(openStore({ path: join(disk, 'other', 'ratchet.db'), thread })),
    readsMeanwhile: (await store.trajectories.count({})) === acknowledged.length,
  }
  rmSync(join(disk, 'ballast'))
  const afterwards = await outcome(store.trajectories.append([recorded('after')]))
  await store.close()
  return { acknowledged: acknowledged.length, ...found, afterwards, lost: await lostOf([...acknowledged, 'after']) }
}

async function killedWhileFull() {
  const writer = spawn(process.execPath, [fileURLToPath(import.meta.url), disk, thread, 'append-for-ever'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged = []
  let refused = 0
  for await (const line of createInterface({ input: writer.stdout })) {
    const said = JSON.parse(line)
    if (said.ok) acknowledged.push(said.ok)
    else refused++
    if (refused === 20) writer.kill('SIGKILL')
    if (refused >= 20) break
  }
  await new Promise((resolve) => writer.on('exit', resolve))
  // On the full disk, as it was left.
  const lost = await lostOf(acknowledged)
  return { acknowledged: acknowledged.length, lost }
}

async function make() {
  const store = await openStore({ path, thread })
  await store.trajectories.append([recorded('a')])
  await store.backup(join(disk, 'copy'))
  await store.close()
  return {}
}

async function look() {
  const copy = await openStore({ path: join(disk, 'copy', 'ratchet.db'), thread, readonly: true })
  return {
    write: await outcome(openStore({ path, thread })),
    read: await outcome(openStore({ path, thread, readonly: true })),
    inBackup: await copy.trajectories.count({}),
  }
}

async function lostOf(acknowledged) {
  const store = await openStore({ path, thread })
  const records = await store.trajectories.list({ limit: 1_000_000 })
  await store.close()
  const known = new Set(records.map(({ trajectory }) => trajectory.id))
  return acknowledged.filter((id) => !known.has(id)).length
}

function recorded(id, size = 4000) {
  const trajectory = {
    id,
    origin: { kind: 'rollout' },
    task: { id: 'task', instruction: 'x'.repeat(size), split: 'train' },
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
  return { trajectory, reward: { status: 'scored', value: 1, parts: {} }, run: null }
}
