// How long one request keeps the gateway from everybody else: the longest answer of /healthz, and the CPU that the longest
// turn of the event loop takes, while the worst bodies of each route come, one at a time, made from the gateway's own OpenAPI
// document. The limit is for the CPU: on a machine that others use, /healthz is late for reasons of theirs.
//   npm run build && node bench/gateway-stall.mjs
//     [--rounds 3] times that each body is sent  [--limit 250] milliseconds that are allowed
//     [--route TEXT] only routes whose path has this  [--body TEXT] only bodies whose description has this
//     [--sessions] also the routes under /s/{session}, which are the same code  [--redact] with every kind of redaction
//     [--show 3] bodies shown of each route  [--folder DIR] on a disk
import { mkdirSync, mkdtempSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import { newKey } from '../dist/gateway/index.js'
import { openStore } from '../dist/store/index.js'
import { worstBodies } from '../test/support/worst-bodies.mjs'
import { removeWithUs } from './gateway/children.mjs'
import { median, openTable } from './gateway/figures.mjs'
import { machine } from './gateway/machine.mjs'
import { openPlaces } from './gateway/places.mjs'
import { startGateway, startUpstream } from './gateway/processes.mjs'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    limit: { type: 'string', default: '250' },
    route: { type: 'string', default: '' },
    body: { type: 'string', default: '' },
    sessions: { type: 'boolean', default: false },
    redact: { type: 'boolean', default: false },
    show: { type: 'string', default: '3' },
    folder: { type: 'string', default: tmpdir() },
  },
})
const rounds = Number(flags.rounds)
const limit = Number(flags.limit)

mkdirSync(flags.folder, { recursive: true })
const folder = removeWithUs(mkdtempSync(join(flags.folder, 'ratchet-bench-')))
const places = await openPlaces({ names: ['gateway'], folder })
const running = []

try {
  await main()
} finally {
  for (const one of running.toReversed()) await one.close()
  await places.remove()
}

async function main() {
  const upstream = await startUpstream({ text: 'so it is', delayMs: 0, chunkMs: 0, tells: false })
  running.push(upstream)
  const token = await keyIn(places.gateway.location)
  const redact = flags.redact ? ['email', 'phone', 'card', 'iban', 'ip', 'secret'] : []
  const gateway = await startGateway({ folder, store: places.gateway.store, upstream, probed: true, more: { redact } })
  const turn = async () => (await gateway.probe({ kind: 'turn' })).longest
  running.push(gateway)
  const prober = await startProber(gateway)
  running.push(prober)
  const document = await (await fetch(`http://${gateway.host}:${gateway.port}/openapi.json`)).json()
  console.log(machine())
  await prober.rest()
  const quiet = []
  for (let i = 0; i < 10; i++) {
    await prober.rest()
    quiet.push(await prober.worst())
  }
  console.log(
    `Each body ${rounds} times; limit ${limit} ms. Of a gateway that nothing is asked of, /healthz takes ${Math.max(...quiet).toFixed(0)} ms at most.${flags.redact ? ' Every kind of redaction is on.' : ''}\n`,
  )
  const rows = openTable([
    'route',
    'bodies',
    'longest stall, ms: worst body, median (range)',
    'of its thread’s CPU in one turn, ms',
    'statuses',
    'its body',
    'within the limit',
  ])
  const asked = worstBodies(document).filter(
    ({ route }) => route.includes(flags.route) && (flags.sessions || !route.startsWith('/s/')),
  )
  let beyond = 0
  for (const { path, route, bodies } of asked) {
    const measured = []
    for (const { what, body } of bodies.filter(({ what }) => what.includes(flags.body))) {
      const bytes = Buffer.from(body())
      const stalls = []
      const busy = []
      const statuses = new Set()
      for (let i = 0; i < rounds; i++) {
        await prober.rest()
        await turn()
        statuses.add(await post(gateway, path, token, bytes))
        await prober.rest()
        stalls.push(await prober.worst())
        busy.push(await turn())
      }
      measured.push({ what, stalls, busy, statuses: [...statuses] })
    }
    const worst = measured.toSorted((a, b) => median(b.busy) - median(a.busy))
    const statuses = [...new Set(measured.flatMap((one) => one.statuses))].toSorted((a, b) => a - b).join(' ')
    for (const [i, { what, stalls, busy, statuses: own }] of worst.slice(0, Number(flags.show)).entries()) {
      const within = median(busy) <= limit
      if (!within) beyond++
      const range = `${median(stalls).toFixed(0)} (${Math.min(...stalls).toFixed(0)}–${Math.max(...stalls).toFixed(0)})`
      rows.row([
        i === 0 ? route : '',
        i === 0 ? measured.length : '',
        range,
        median(busy).toFixed(0),
        i === 0 ? statuses : own.join(' '),
        what,
        within ? 'yes' : 'NO',
      ])
    }
  }
  console.log(
    `\n${beyond === 0 ? 'Every route is within the limit.' : `${beyond} bodies of those shown are beyond the limit.`}`,
  )
  process.exitCode = beyond === 0 ? 0 : 1
}

/** The token of a key that may do everything. */
async function keyIn(location) {
  const store = await openStore(location)
  try {
    const { key, token } = newKey({ name: 'bench', tenant: 'default', scopes: ['admin'], now: Date.now() })
    await store.keys.put(key)
    return token
  } finally {
    await store.close()
  }
}

/** @returns the status, once the whole answer has come. */
function post({ host, port }, path, token, bytes) {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': bytes.length,
      authorization: `Bearer ${token}`,
    }
    const asked = request({ host, port, path, method: 'POST', headers, agent: false }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode))
    })
    asked.once('error', reject)
    asked.end(bytes)
  })
}

/** Asks for /healthz all the time, from a thread of its own: what this one does keeps nobody waiting. */
async function startProber({ host, port }) {
  const thread = new Worker(new URL('gateway/prober.mjs', import.meta.url), { workerData: { host, port } })
  const ask = async (question) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window's
    thread.postMessage(question)
    const [answer] = await once(thread, 'message')
    return answer
  }
  return { rest: () => ask('rest'), worst: () => ask('worst'), close: () => thread.terminate() }
}
