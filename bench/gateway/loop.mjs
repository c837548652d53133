// Who keeps the gateway's event loop while requests come at a constant rate: of each gap between two of its turns, the CPU
// that its thread had, and how long it waited for a core that others had: upstream, load generator, the gateway's own
// threads, other work. Beside them what a request waited, and garbage collections.
//   npm run build && node bench/gateway/loop.mjs [--stream] [--rate 199] [--seconds 4] [--rounds 3] [--heat 10]
//     [--gap 10] ms that count as a gap  [--flags=--max-semi-space-size=64] of Node, for the gateway  [--folder DIR]
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { removeWithUs } from './children.mjs'
import { answerOf } from './conversation.mjs'
import { quantiles, table } from './figures.mjs'
import { machine } from './machine.mjs'
import { startGateway, startLoad, startUpstream } from './processes.mjs'
import { refused } from './refused.mjs'
import { addressOf } from './saturation.mjs'

const { values: flags } = parseArgs({
  options: {
    stream: { type: 'boolean', default: false },
    rate: { type: 'string', default: '199' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    heat: { type: 'string', default: '10' },
    gap: { type: 'string', default: '10' },
    flags: { type: 'string', default: '' },
    folder: { type: 'string', default: tmpdir() },
  },
})
const answer = answerOf(32)
mkdirSync(flags.folder, { recursive: true })
const folder = removeWithUs(mkdtempSync(join(flags.folder, 'ratchet-loop-')))
const upstream = await startUpstream({ text: answer, delayMs: 20, chunkMs: 5, tells: false })
const load = startLoad()
const gateway = await startGateway({
  folder,
  store: join(folder, 'store'),
  upstream,
  probed: true,
  flags: flags.flags.split(' ').filter((flag) => flag !== ''),
})

try {
  console.log(machine())
  const work = { stream: flags.stream, answer, sessions: 0 }
  const plan = { target: addressOf(gateway), work, watch: { gateway: gateway.pids() } }
  const concurrency = flags.stream ? 256 : 64
  await load.run({ ...plan, kind: 'closed', concurrency, warmUp: 0, seconds: Number(flags.heat) })
  const rows = []
  for (let round = 0; round < Number(flags.rounds); round++) rows.push(await watched(plan))
  table(
    [
      'requests/s',
      'CPU a request, ms',
      'until the upstream has it, p50 / p99, ms',
      'from its end on, p50 / p99, ms',
      'main thread busy',
      `gaps of ${flags.gap} ms`,
      'of CPU in them, ms',
      'of waiting for a core, ms',
      'collections of the young',
      'of all',
      'not answered',
    ],
    rows,
  )
} finally {
  await gateway.close()
  await load.close()
  await upstream.close()
}

async function watched(plan) {
  await gateway.probe({ kind: 'startWatch' })
  const timing = { rate: Number(flags.rate), warmUp: 1, seconds: Number(flags.seconds) }
  const run = await load.run({ ...plan, kind: 'open', ...timing })
  const { turns, collections } = await gateway.probe({ kind: 'stopWatch' })
  const { taken, ended } = await upstream.times(run.number)
  const answered = Array.from(run.number.keys()).filter((i) => run.end[i] > 0)
  const waited = (of) => {
    const { p50, p99 } = quantiles(answered.map(of))
    return `${p50.toFixed(1)} / ${p99.toFixed(1)}`
  }
  const gaps = turns.filter(({ ms }) => ms >= Number(flags.gap))
  const sum = (all, field) => all.reduce((total, one) => total + one[field], 0)
  const major = collections.filter(({ kind }) => kind === constants.NODE_PERFORMANCE_GC_MAJOR)
  const minor = collections.filter(({ kind }) => kind === constants.NODE_PERFORMANCE_GC_MINOR)
  const told = (all) => `${all.length}, ${sum(all, 'ms').toFixed(0)} ms`
  return [
    (run.ended / timing.seconds).toFixed(0),
    ((run.cpu.gateway.all / run.ended) * 1000).toFixed(2),
    waited((i) => taken[i] - run.due[i]),
    waited((i) => run.end[i] - ended[i]),
    `${((run.cpu.gateway.mainThread / timing.seconds) * 100).toFixed(0)} %`,
    `${gaps.length}, ${sum(gaps, 'ms').toFixed(0)} ms`,
    sum(gaps, 'cpu').toFixed(0),
    sum(gaps, 'waited').toFixed(0),
    told(minor),
    told(major),
    refused(run),
  ]
}
