// Where the gateway's time goes: V8's profiler in each of its threads, under closed load.
//   npm run build && node bench/gateway/profile.mjs [--stream] [--seconds 15] [--callers 64] [--top 15] [--tokens]
//     [--chunks 32] [--delay 20] [--chunk-delay 5] [--sessions 0] [--folder DIR] [--keep FOLDER for the profiles]
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { removeWithUs } from './children.mjs'
import { answerOf } from './conversation.mjs'
import { table } from './figures.mjs'
import { machine } from './machine.mjs'
import { startGateway, startLoad, startUpstream } from './processes.mjs'
import { addressOf } from './saturation.mjs'

const { values: flags } = parseArgs({
  options: {
    stream: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '15' },
    callers: { type: 'string', default: '64' },
    top: { type: 'string', default: '15' },
    tokens: { type: 'boolean', default: false },
    chunks: { type: 'string', default: '32' },
    delay: { type: 'string', default: '20' },
    'chunk-delay': { type: 'string', default: '5' },
    sessions: { type: 'string', default: '0' },
    folder: { type: 'string', default: tmpdir() },
    keep: { type: 'string' },
  },
})
const answer = answerOf(Number(flags.chunks))
const folder = removeWithUs(mkdtempSync(join(flags.folder, 'ratchet-profile-')))
const profiles = resolve(flags.keep ?? join(folder, 'profiles'))
mkdirSync(profiles, { recursive: true })

const upstream = await startUpstream({
  text: answer,
  delayMs: Number(flags.delay),
  chunkMs: Number(flags['chunk-delay']),
  tells: flags.tokens,
})
const load = startLoad()
const gateway = await startGateway({ folder, store: join(folder, 'store'), upstream, probed: true })
try {
  const work = { stream: flags.stream, answer, sessions: Number(flags.sessions) }
  const plan = { kind: 'closed', target: addressOf(gateway), work, concurrency: Number(flags.callers) }
  await load.run({ ...plan, watch: {}, warmUp: 0, seconds: 8 })
  await gateway.probe({ kind: 'startProfile', everywhere: true })
  const run = await load.run({ ...plan, watch: { gateway: gateway.pids() }, warmUp: 0, seconds: Number(flags.seconds) })
  await gateway.probe({ kind: 'stopProfile', everywhere: true, folder: profiles })
  const { all, mainThread } = run.cpu.gateway
  const ms = (seconds) => `${((seconds / run.ended) * 1000).toFixed(3)} ms`
  console.log(machine())
  console.log(
    `${flags.stream ? 'Streams' : 'Plain answers'}: ${Math.round(run.perSecond)} requests/s; CPU a request ${ms(all)}, of it ${ms(mainThread)} in the main thread`,
  )
} finally {
  // Ending takes the threads with it: what they have to write is written before.
  await sleep(1_000)
  await gateway.close()
  await load.close()
  await upstream.close()
}
for (const name of readdirSync(profiles)) print(name, JSON.parse(readFileSync(join(profiles, name), 'utf8')))

/** Functions by the time that was spent in themselves, of what was not idle. */
function print(name, { nodes, samples, timeDeltas }) {
  const labels = new Map(nodes.map(({ id, callFrame }) => [id, labelOf(callFrame)]))
  const self = new Map()
  samples.forEach((id, i) => {
    const label = labels.get(id)
    self.set(label, (self.get(label) ?? 0) + timeDeltas[i])
  })
  self.delete('(idle)')
  const busy = [...self.values()].reduce((sum, time) => sum + time, 0)
  const most = [...self].sort((a, b) => b[1] - a[1]).slice(0, Number(flags.top))
  console.log(`\n${name}: busy ${(busy / 1e6).toFixed(1)} s`)
  table(
    ['self', 'function'],
    most.map(([label, time]) => [`${((time / busy) * 100).toFixed(1)} %`, label]),
  )
}

function labelOf({ functionName, url, lineNumber }) {
  const file = url.replace(/^.*\/(node_modules|dist)\//, '')
  return file === '' ? functionName : `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`
}
