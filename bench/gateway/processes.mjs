// Starts what is measured, each in a process of its own, and ends it again.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endWithUs } from './children.mjs'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const ours = here('../..')

/** Asks a forked process, one thing at a time. */
export function ask(child, question) {
  return new Promise((resolve, reject) => {
    const ended = (code, signal) => reject(new Error(`${child.spawnargs[1]} ended with ${code ?? signal}`))
    child.once('exit', ended)
    child.once('message', (answer) => {
      child.off('exit', ended)
      resolve(answer)
    })
    child.send(question)
  })
}

async function stop(child, signal = 'SIGTERM') {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

/**
 * A process that stands for another machine: the gateway's threads do not keep it waiting, where we may say so. Without that
 * right its waiting counts as the gateway's.
 */
function forkAhead(name, args = []) {
  const child = endWithUs(fork(here(name), args, { serialization: 'advanced' }))
  try {
    setPriority(child.pid, -10)
  } catch {
    ahead = false
  }
  return child
}
let ahead = true

/** Whether upstreams and load generators have gone before the gateway so far. */
export const goAhead = () => ahead

/** @param settings see upstream.mjs. */
export async function startUpstream(settings) {
  const child = forkAhead('upstream.mjs', [JSON.stringify(settings)])
  const [{ port }] = await once(child, 'message')
  return {
    host: '127.0.0.1',
    port,
    pids: () => [child.pid],
    times: (numbers) => ask(child, numbers),
    close: () => stop(child, 'SIGKILL'),
  }
}

export function startLoad() {
  const child = forkAhead('load.mjs')
  return { run: (plan) => ask(child, plan), close: () => stop(child, 'SIGKILL') }
}

/**
 * `ratchet serve` before an upstream, with no limit that a benchmark reaches and everything else as it is by default.
 * @param folder where its configuration is written, and its store where it is SQLite's.
 * @param store a folder or a database's URL.
 * @param more of its configuration.
 * @param probed whether probe.mjs is loaded before it.
 * @param flags of Node.
 * @param checkout whose build serves; this one by default.
 */
export async function startGateway({
  folder,
  store,
  upstream,
  probed = false,
  more = {},
  flags = [],
  checkout = ours,
}) {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'serve.json')
  const url = `http://${upstream.host}:${upstream.port}/v1`
  const unlimited = { concurrency: 1_000_000, queue: 1_000_000 }
  const limits = { requestsPerMinute: 1_000_000_000, concurrency: 1_000_000 }
  writeFileSync(
    config,
    JSON.stringify({ port: 0, upstreams: [{ name: 'canned', url, ...unlimited }], limits, ...more }),
  )
  const probe = probed ? ['--expose-gc', '--import', here('probe.mjs')] : []
  const args = [
    ...flags,
    ...probe,
    join(checkout, 'dist/cli/main.js'),
    'serve',
    '--json',
    '--config',
    config,
    '--store',
    store,
  ]
  const env = { ...process.env, RATCHET_LOG_LEVEL: 'warn' }
  const stdio = ['ignore', 'pipe', 'inherit', ...(probed ? ['ipc'] : [])]
  const child = endWithUs(spawn(process.execPath, args, { env, stdio }))
  const { port } = new URL(await listening(child))
  return {
    host: '127.0.0.1',
    port: Number(port),
    pids: () => [child.pid],
    /** Tells the probe, see there. */
    probe: (question) => ask(child, question),
    close: () => stop(child),
  }
}

/** The address in the first line that the gateway prints; what it prints after is not kept. */
function listening(child) {
  return new Promise((resolve, reject) => {
    let output = ''
    child.once('exit', (code) => reject(new Error(`ratchet serve ended with ${code}`)))
    child.stdout.setEncoding('utf8').on('data', (text) => {
      if (output.includes('\n')) return
      output += text
      const [line, rest] = output.split('\n', 2)
      if (rest !== undefined) resolve(JSON.parse(line).url)
    })
  })
}
