// The gateway's memory while it answers and records a million calls: of many keys, in conversations of which half name their
// session and half are recognised, some of them streamed. Memory is looked at between slices of load, with nothing under way.
//   npm run build && node bench/gateway-memory.mjs
//     [--requests 1000000] [--slice 5] seconds of load between two looks  [--callers 48] of plain answers
//     [--streams 16] callers of streams  [--keys 200]  [--chunks 32] tokens of an answer
//     [--folder DIR] on a disk with room for 8 KB a request  [--postgres URL] a server to record in, instead of SQLite
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { newKey } from '../dist/gateway/index.js'
import { openStore } from '../dist/store/index.js'
import { removeWithUs } from './gateway/children.mjs'
import { answerOf } from './gateway/conversation.mjs'
import { openTable } from './gateway/figures.mjs'
import { assertDisk, machine } from './gateway/machine.mjs'
import { openPlaces } from './gateway/places.mjs'
import { startGateway, startLoad, startUpstream } from './gateway/processes.mjs'
import { slopeOf } from './gateway/slope.mjs'

const { values: flags } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    slice: { type: 'string', default: '5' },
    callers: { type: 'string', default: '48' },
    streams: { type: 'string', default: '16' },
    keys: { type: 'string', default: '200' },
    chunks: { type: 'string', default: '32' },
    folder: { type: 'string', default: tmpdir() },
    postgres: { type: 'string' },
  },
})
const wanted = Number(flags.requests)
const answer = answerOf(Number(flags.chunks))
const mib = 2 ** 20
/** Of the table; all samples count for the growth. */
const rowsShown = 25

mkdirSync(flags.folder, { recursive: true })
assertDisk(flags.folder)
const folder = removeWithUs(mkdtempSync(join(flags.folder, 'ratchet-bench-')))
const places = await openPlaces({ names: ['gateway'], folder, server: flags.postgres })
const running = []
const start = async (starting) => {
  running.push(await starting)
  return running.at(-1)
}

try {
  await main()
} finally {
  for (const one of running.toReversed()) await one.close()
  await places.remove()
}

async function main() {
  const upstream = await start(startUpstream({ text: answer, delayMs: 0, chunkMs: 0, tells: false }))
  const tokens = await keysIn(places.gateway.location, Number(flags.keys))
  const gateway = await start(startGateway({ folder, store: places.gateway.store, upstream, probed: true }))
  const target = { host: gateway.host, port: gateway.port, tokens }
  const callers = [
    { load: await start(startLoad()), stream: false, concurrency: Number(flags.callers) },
    { load: await start(startLoad()), stream: true, concurrency: Number(flags.streams) },
  ].filter(({ concurrency }) => concurrency > 0)
  console.log(machine())
  console.log(
    `Records in ${flags.postgres ? 'PostgreSQL' : 'SQLite'}; ${flags.keys} keys; ${flags.callers} callers of plain answers and ${flags.streams} of streams, ${flags.chunks} tokens each.\n`,
  )

  const columns = [
    'RSS',
    'heap in use',
    'outside the heap',
    'V8 holds, all threads',
    'files',
    'allocator',
    'store on the disk',
  ]
  const rows = openTable(['requests', 'minutes', ...columns.map((column) => `${column}, MiB`)])
  const samples = []
  let next = 0
  const begun = performance.now()
  let requests = 0
  while (requests < wanted) {
    const runs = await Promise.all(
      callers.map(({ load, stream, concurrency }) =>
        load.run({
          kind: 'closed',
          target,
          work: { stream, answer, sessions: 0.5 },
          concurrency,
          warmUp: 0,
          seconds: Number(flags.slice),
          watch: {},
        }),
      ),
    )
    const failed = runs.find(({ error }) => error !== null)
    if (failed) throw new Error(`a call failed: ${failed.error}`)
    requests += runs.reduce((sum, { statuses }) => sum + (statuses[200] ?? 0), 0)
    await sleep(300)
    const { rss, heaps, files, rest, heapUsed, external } = await gateway.probe({ kind: 'memory' })
    const disk = await places.gateway.bytes()
    const seconds = (performance.now() - begun) / 1000
    samples.push({ requests, seconds, rss, heapUsed, external, heaps, files, rest, disk })
    if (requests < wanted && requests < next) continue
    next = requests + wanted / rowsShown
    const amounts = [rss, heapUsed, external, heaps, files, rest, disk].map((bytes) => (bytes / mib).toFixed(1))
    rows.row([requests.toLocaleString('en'), (seconds / 60).toFixed(1), ...amounts])
  }
  printGrowth(samples)
}

/** Tokens of as many new keys, made while no gateway writes the store. */
async function keysIn(location, count) {
  const store = await openStore(location)
  try {
    const tokens = []
    for (let i = 0; i < count; i++) {
      const about = {
        name: `bench ${i}`,
        tenant: 'default',
        scopes: ['infer'],
        agent: null,
        train: true,
        expiresAt: null,
      }
      const { key, token } = newKey({ ...about, now: Date.now() })
      await store.keys.put(key)
      tokens.push(token)
    }
    return tokens
  } finally {
    await store.close()
  }
}

function printGrowth(samples) {
  const last = samples.at(-1)
  const half = samples.filter(({ requests }) => requests > last.requests / 2)
  console.log(
    `\nGrowth over the last half, MiB a million requests (95 % interval), n = ${half.length} samples of ${last.requests.toLocaleString('en')} requests:`,
  )
  for (const [name, field] of [
    ['RSS', 'rss'],
    ['heap in use after a collection', 'heapUsed'],
    ['outside the heap', 'external'],
    ['what V8 holds for all threads', 'heaps'],
    ['what the allocator holds', 'rest'],
  ]) {
    const { slope, low, high } = slopeOf(
      half.map(({ requests }) => requests / 1e6),
      half.map((sample) => sample[field] / mib),
    )
    const flat = low <= 0 ? 'no growth that can be told from none' : 'grows'
    console.log(`  ${name}: ${slope.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)}): ${flat}`)
  }
  console.log(
    `Store: ${(last.disk / last.requests / 1024).toFixed(2)} KiB a request on the disk. ${Math.round(last.requests / last.seconds)} requests/s.`,
  )
}
