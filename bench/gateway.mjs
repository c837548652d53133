// What the gateway adds to the latency of its upstream and what a request costs it, recording every call durably; beside
// LiteLLM's proxy, which records nothing, where RATCHET_LITELLM names it (bench/peers/litellm.mjs). Linux.
// Upstream, gateway and load generator are processes of their own on one machine: what saturates is all of them together.
//   npm run build && node bench/gateway.mjs
//     [--rounds 3] [--seconds 5] [--warm-up 1] [--heat 8] seconds of each run, before it, and before everything
//     [--only latency,peer] [--modes plain,stream]
//     [--callers 16,64,128]  of plain answers; twice as many of streams
//     [--shares 0.5,0.7,0.9] of what saturates the gateway
//     [--delay 20] ms before an answer  [--chunks 32] tokens of it  [--chunk-delay 5] ms between two in a stream
//     [--tokens]             the upstream tells token ids and log-probabilities to the gateway, which asks for them
//     [--sessions 0]         share of conversations that name their session; the others are recognised by what they say
//     [--folder DIR]         on the disk to measure  [--postgres URL] a server to record in, instead of SQLite
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeWithUs } from './gateway/children.mjs'
import { appendAlone, flushAlone } from './gateway/commit.mjs'
import { answerOf } from './gateway/conversation.mjs'
import { spread } from './gateway/figures.mjs'
import { latency, printLatency } from './gateway/latency.mjs'
import { assertDisk, machine } from './gateway/machine.mjs'
import { openPlaces } from './gateway/places.mjs'
import { goAhead, startGateway, startLoad, startUpstream } from './gateway/processes.mjs'
import { addressOf, saturation } from './gateway/saturation.mjs'
import { startLitellm } from './peers/litellm.mjs'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '1' },
    heat: { type: 'string', default: '8' },
    only: { type: 'string', default: 'latency,peer' },
    modes: { type: 'string', default: 'plain,stream' },
    callers: { type: 'string', default: '16,64,128' },
    shares: { type: 'string', default: '0.5,0.7,0.9' },
    delay: { type: 'string', default: '20' },
    chunks: { type: 'string', default: '32' },
    'chunk-delay': { type: 'string', default: '5' },
    tokens: { type: 'boolean', default: false },
    sessions: { type: 'string', default: '0' },
    folder: { type: 'string', default: tmpdir() },
    postgres: { type: 'string' },
  },
})
const rounds = Number(flags.rounds)
const timing = { rounds, seconds: Number(flags.seconds), warmUp: Number(flags['warm-up']) }
const callers = flags.callers.split(',').map(Number)
const shares = flags.shares.split(',').map(Number)
const parts = new Set(flags.only.split(','))
const answer = answerOf(Number(flags.chunks))

mkdirSync(flags.folder, { recursive: true })
assertDisk(flags.folder)
const folder = removeWithUs(mkdtempSync(join(flags.folder, 'ratchet-bench-')))
const places = await openPlaces({ names: ['gateway', 'alone'], folder, server: flags.postgres })
const running = []
const start = async (starting) => {
  const started = await starting
  if (started) running.push(started)
  return started
}

try {
  await main()
} finally {
  for (const one of running.toReversed()) await one.close()
  await places.remove()
}

async function main() {
  const upstream = await start(
    startUpstream({
      text: answer,
      delayMs: Number(flags.delay),
      chunkMs: Number(flags['chunk-delay']),
      tells: flags.tokens,
    }),
  )
  const load = await start(startLoad())
  const gateway = await start(startGateway({ folder, store: places.gateway.store, upstream }))
  const litellm = parts.has('peer') ? await start(startLitellm({ folder, upstream })) : null
  describe(litellm)
  await showAlone(load)

  const commits = []
  for (const mode of flags.modes.split(',')) {
    const stream = mode === 'stream'
    const plan = { load, work: { stream, answer, sessions: Number(flags.sessions) }, ...timing }
    const targets = { direct: upstream, gateway, ...(litellm && { LiteLLM: litellm }) }
    const concurrencies = callers.map((count) => (stream ? 2 * count : count))
    await heat({ load, work: plan.work, targets, concurrency: concurrencies[0] })
    console.log(`\n${stream ? 'Streams' : 'Plain answers'}, saturation`)
    const most = await saturation({ ...plan, targets, concurrencies })
    if (parts.has('latency')) {
      const rates = Object.fromEntries(shares.map((share) => [`${share * 100} %`, share * most.gateway.perSecond]))
      // Of the disk, in the same minutes.
      commits.push(await commitAlone())
      const figures = await latency({ ...plan, upstream, targets: { direct: upstream, gateway }, rates })
      commits.push(await commitAlone())
      console.log(`\n${stream ? 'Streams' : 'Plain answers'}, latency added at shares of the gateway's saturation`)
      printLatency(figures, { rates, moments: momentsOf(stream), flush: commits.map(({ flush }) => flush.p99) })
    }
    if (litellm) await comparePeer({ plan, stream, upstream, targets, most })
  }
  if (commits.length > 0) printCommits(commits)
}

function describe(litellm) {
  const tokens = flags.tokens ? ', with token ids and log-probabilities' : ''
  const priority = goAhead() ? 'go before the gateway (priority -10)' : 'have no priority: run as root to give it'
  const known = flags.sessions === '0' ? 'conversations are recognised' : `${flags.sessions} of conversations are named`
  const peer = litellm
    ? `LiteLLM ${litellm.version}: one worker, no database, no callbacks, no access log, no token counting; records nothing.`
    : 'LiteLLM: not measured; set RATCHET_LITELLM as bench/peers/litellm.mjs says.'
  console.log(
    [
      `${machine()}; n = ${rounds} rounds of ${flags.seconds} s; median (least–greatest)`,
      `Upstream: answers of ${flags.chunks} tokens after ${flags.delay} ms, in streams one every ${flags['chunk-delay']} ms${tokens}. It and the load generator ${priority}; no process is pinned.`,
      `Gateway: records durably in ${flags.postgres ? 'PostgreSQL' : 'SQLite'}; ${known}; log level warn.`,
      ...(parts.has('peer') ? [peer] : []),
    ].join('\n'),
  )
}

/** What the load generator and an upstream without delays come to by themselves: far more than what is measured. */
async function showAlone(load) {
  const upstream = await startUpstream({ text: answer, delayMs: 0, chunkMs: 0, tells: false })
  const most = []
  for (const stream of [false, true]) {
    const plan = { kind: 'closed', target: addressOf(upstream), work: { stream, answer, sessions: 0 }, concurrency: 64 }
    const run = await load.run({ ...plan, warmUp: timing.warmUp, seconds: timing.seconds, watch: {} })
    most.push(`${Math.round(run.perSecond).toLocaleString('en')} ${stream ? 'streams' : 'plain answers'} a second`)
  }
  await upstream.close()
  console.log(`Load generator and upstream by themselves, without delays: ${most.join(', ')}.`)
}

/** Code that has just begun to run is not yet compiled as it will be. */
async function heat({ load, work, targets, concurrency }) {
  for (const target of Object.values(targets)) {
    const plan = { kind: 'closed', target: addressOf(target), work, concurrency, watch: {} }
    await load.run({ ...plan, warmUp: 0, seconds: Number(flags.heat) })
  }
}

function momentsOf(stream) {
  return stream ? ['first', 'end'] : ['end']
}

/** At half of what saturates the peer, or the gateway if that is less: both can bear it. */
async function comparePeer({ plan, stream, upstream, targets, most }) {
  const rates = { 'what both bear': Math.min(most.LiteLLM.perSecond, most.gateway.perSecond) / 2 }
  const figures = await latency({ ...plan, upstream, targets, rates })
  console.log(`\n${stream ? 'Streams' : 'Plain answers'}, beside LiteLLM at a rate that both bear`)
  printLatency(figures, { rates, moments: momentsOf(stream), flush: [] })
  const sides = figures.get('what both bear')
  const ratios = (ours, theirs) => spread(ours.map((perCore, round) => perCore / theirs[round]))
  const perCore = (name) => sides[name].map((one) => one.perCore)
  console.log(
    `\nRequests a core-second, ours over LiteLLM's: ${ratios(most.gateway.perCore, most.LiteLLM.perCore)}x at saturation, ${ratios(perCore('gateway'), perCore('LiteLLM'))}x at that rate; target 10x`,
  )
}

async function commitAlone() {
  return { flush: await flushAlone(folder), append: await appendAlone(places.alone.location) }
}

function printCommits(commits) {
  const of = (what, quantile) => spread(commits.map((one) => one[what][quantile]))
  console.log(
    `\nOne commit alone on the same disk, in the same run, ms p50 / p99: flush (fsync of 4 KB) ${of('flush', 'p50')} / ${of('flush', 'p99')}; the store's append ${of('append', 'p50')} / ${of('append', 'p99')}; n = ${commits.length} × 1,000`,
  )
}
