// The load generator, in a process of its own: told what to do in messages, answers with what happened.
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Client } from './client.mjs'
import { now } from './clock.mjs'
import { cpuSeconds } from './cpu.mjs'

/** More calls under way than this, and the target is taken to have given up. */
const mostInFlight = 4_000
/** How long calls may take to end behind the last one that was sent. */
const patienceMs = 15_000

const momentsOf = (length) => ({
  number: new Float64Array(length),
  due: new Float64Array(length),
  sent: new Float64Array(length),
  first: new Float64Array(length),
  end: new Float64Array(length),
})

const cpuOf = (watch) => Object.fromEntries(Object.entries(watch).map(([name, pids]) => [name, cpuSeconds(pids)]))

/** What `watch`ed processes used while the measured part ran, once it has begun. */
async function meter(watch, beginsInMs, seconds) {
  await sleep(beginsInMs)
  const before = { at: now(), cpu: cpuOf(watch) }
  await sleep(seconds * 1000)
  const after = { at: now(), cpu: cpuOf(watch) }
  const used = (name, field) => after.cpu[name][field] - before.cpu[name][field]
  return {
    from: before.at,
    to: after.at,
    cpu: Object.fromEntries(
      Object.keys(watch).map((name) => [name, { all: used(name, 'all'), mainThread: used(name, 'mainThread') }]),
    ),
  }
}

/** As many callers as told, each of which waits for its answer: how much goes through. */
async function closedLoop(client, { concurrency, warmUp, seconds, watch }) {
  const metered = meter(watch, warmUp * 1000, seconds)
  // A little longer than what is measured.
  const until = now() + (warmUp + seconds) * 1000 + 100
  const isOver = () => now() >= until
  const ends = []
  const moments = momentsOf(concurrency)
  const callers = Array.from({ length: concurrency }, async (_, slot) => {
    let conversation = client.conversation()
    while (!isOver()) {
      moments.first[slot] = 0
      conversation = await new Promise((resolve) => client.call(conversation, moments, slot, resolve))
      if (!Number.isNaN(moments.end[slot])) ends.push(moments.end[slot])
    }
  })
  const { from, to, cpu } = await metered
  await Promise.race([Promise.all(callers), sleep(patienceMs)])
  const ended = ends.filter((at) => at >= from && at < to).length
  return { ended, perSecond: (ended / (to - from)) * 1000, cpu }
}

/** Calls at a constant rate whatever becomes of them; each counts from the moment at which it was due. */
async function openLoop(client, { rate, warmUp, seconds, watch }) {
  const intervalMs = 1000 / rate
  const count = Math.round(rate * (warmUp + seconds))
  const measured = Math.round(rate * seconds)
  const moments = momentsOf(count)
  // Answered conversations wait here for their next call, the longest first.
  const waiting = Array.from({ length: 64 }, () => client.conversation())
  const startAt = now() + 100
  const metered = meter(watch, 100 + warmUp * 1000, seconds)
  const pacer = new Worker(new URL('pacer.mjs', import.meta.url), { workerData: { startAt, intervalMs, count } })
  let sent = 0
  let ended = 0
  const tooMany = await new Promise((resolve) => {
    let patience
    const onEnd = (next) => {
      waiting.push(next)
      if (++ended === count) {
        clearTimeout(patience)
        resolve(false)
      }
    }
    // One message, one call: the pacer alone says what is due, as the clocks of two threads differ by microseconds.
    pacer.on('message', () => {
      moments.due[sent] = startAt + sent * intervalMs
      client.call(waiting.shift() ?? client.conversation(), moments, sent++, onEnd)
      if (sent - ended > mostInFlight) resolve(true)
      if (sent === count) patience = setTimeout(() => resolve(false), patienceMs)
    })
  })
  await pacer.terminate()
  const { cpu, from, to } = await metered
  const since = count - measured
  const of = (field) => moments[field].slice(since)
  const inWindow = moments.end.filter((at) => at >= from && at < to).length
  return {
    asked: measured,
    ended: inWindow,
    unfinished: sent - ended,
    tooMany,
    cpu,
    number: of('number'),
    due: of('due'),
    sent: of('sent'),
    first: of('first'),
    end: of('end'),
  }
}

async function run({ kind, target, work, ...plan }) {
  const client = new Client(target, work)
  const watch = { ...plan.watch, load: [process.pid] }
  const measured = await (kind === 'closed' ? closedLoop : openLoop)(client, { ...plan, watch })
  client.close()
  process.send({ ...measured, statuses: client.statuses, error: client.error })
}

process.on('message', (plan) => void run(plan))
process.on('disconnect', () => process.exit())
