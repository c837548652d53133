// CPU that a request costs the gateway of this checkout, against that of another: both run at once and are asked in turns of
// a second, so that other work on the machine is in the way of both alike. The other one is built already.
//   npm run build && node bench/gateway/against.mjs --other FOLDER [--stream] [--pairs 20]
//     [--callers 32] twice as many of streams  [--rate 45] requests a second, instead of callers  [--heat 10]
//     [--flags=--max-semi-space-size=64] of Node, for this checkout  [--folder DIR]
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { removeWithUs } from './children.mjs'
import { answerOf } from './conversation.mjs'
import { median, quantile, spread, table } from './figures.mjs'
import { machine } from './machine.mjs'
import { startGateway, startLoad, startUpstream } from './processes.mjs'
import { refused } from './refused.mjs'
import { addressOf } from './saturation.mjs'

const { values: flags } = parseArgs({
  options: {
    other: { type: 'string' },
    stream: { type: 'boolean', default: false },
    pairs: { type: 'string', default: '20' },
    callers: { type: 'string', default: '32' },
    rate: { type: 'string' },
    heat: { type: 'string', default: '10' },
    flags: { type: 'string', default: '' },
    folder: { type: 'string', default: tmpdir() },
  },
})
if (flags.other === undefined) throw new Error('Name another checkout that is built: --other FOLDER')
const answer = answerOf(32)
mkdirSync(flags.folder, { recursive: true })
const folder = removeWithUs(mkdtempSync(join(flags.folder, 'ratchet-against-')))
const upstream = await startUpstream({ text: answer, delayMs: 20, chunkMs: 5, tells: false })
const load = startLoad()
const side = async (name, more) => ({
  name,
  gateway: await startGateway({ folder: join(folder, name), store: join(folder, name, 'store'), upstream, ...more }),
  all: [],
  mainThread: [],
  failed: '',
})
const sides = [
  await side('other', { checkout: resolve(flags.other) }),
  await side('this', { flags: flags.flags.split(' ').filter((flag) => flag !== '') }),
]
const callers = Number(flags.callers) * (flags.stream ? 2 : 1)
const closed = { kind: 'closed', concurrency: callers }
const planOf = ({ gateway }) => ({
  target: addressOf(gateway),
  work: { stream: flags.stream, answer, sessions: 0 },
  watch: { gateway: gateway.pids() },
  warmUp: 0,
})

try {
  console.log(machine())
  for (const one of sides) await load.run({ ...planOf(one), ...closed, seconds: Number(flags.heat) })
  for (let pair = 0; pair < Number(flags.pairs); pair++) {
    for (const one of pair % 2 === 0 ? sides : sides.toReversed()) await turn(one)
  }
  table(
    [
      'checkout',
      'CPU a request, ms: median (least–greatest)',
      'quarter below',
      'of it in the main thread',
      'not answered',
    ],
    sides.map(({ name, all, mainThread, failed }) => [
      name,
      spread(all, 3),
      quantile(
        all.toSorted((a, b) => a - b),
        0.25,
      ).toFixed(3),
      median(mainThread).toFixed(3),
      failed,
    ]),
  )
  const [other, ours] = sides
  const ratios = ours.all.map((ms, pair) => ms / other.all[pair]).toSorted((a, b) => a - b)
  const quarters = [0.25, 0.75].map((part) => quantile(ratios, part).toFixed(2)).join('–')
  console.log(`\nThis over the other, pair by pair: ${median(ratios).toFixed(2)}, half of them ${quarters}`)
} finally {
  for (const { gateway } of sides) await gateway.close()
  await load.close()
  await upstream.close()
}

async function turn(one) {
  const rate = flags.rate === undefined ? closed : { kind: 'open', rate: Number(flags.rate) }
  const run = await load.run({ ...planOf(one), ...rate, seconds: 1 })
  one.all.push((run.cpu.gateway.all / run.ended) * 1000)
  one.mainThread.push((run.cpu.gateway.mainThread / run.ended) * 1000)
  one.failed ||= refused(run)
}
