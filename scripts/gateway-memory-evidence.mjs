/**
 * What a memory brings to an agent behind the gateway's proxy, with a real language model: visitors of an office ask where
 * to go, over HTTP, and say whether they were sent to the right desk. The gateway learns from that, and its canary gives half
 * of the next visitors the memory: the other half, at the same time and by the same model, is the control.
 *
 *   npm run build && node scripts/gateway-memory-evidence.mjs [--model smollm2-135m] [--first 1] [--seeds 5]
 *       [--synonyms] [--embedder minilm]
 *
 * Which desk is right for a matter is drawn for each seed. The visitors of the canary ask in other sentences than those before;
 * with --synonyms they call the matter otherwise, too.
 */
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { rng } from '../dist/core/index.js'
import { openStore } from '../dist/store/index.js'
import { shown } from './kinds-evidence/intervals.mjs'

const options = {
  model: { type: 'string', default: 'smollm2-135m' },
  first: { type: 'string', default: '1' },
  seeds: { type: 'string', default: '5' },
  taught: { type: 'string', default: '144' },
  asked: { type: 'string', default: '200' },
  synonyms: { type: 'boolean', default: false },
  embedder: { type: 'string' },
}
const { values } = parseArgs({ options })
const number = z.coerce.number().int().positive()
const { first, seeds, taught, asked } = z
  .object({ first: number, seeds: number.min(2), taught: number, asked: number })
  .parse(values)

const desks = ['amber', 'birch', 'cedar', 'flint']
/** What people come with, as those say it whom the memory learns from, and in words that have none of these. */
const synonyms = new Map([
  ['a broken kettle', 'a water boiler that stopped heating'],
  ['a lost parcel', 'a package that never arrived'],
  ['a wrong invoice', 'a bill with mistakes'],
  ['a late refund', 'money that was not paid back yet'],
  ['a torn coat', 'a ripped jacket'],
  ['a noisy fridge', 'a refrigerator that hums'],
  ['an expired voucher', 'a coupon that ran out'],
  ['a locked account', 'a login that is blocked'],
  ['a cracked screen', 'a shattered display'],
  ['a dead battery', 'a cell that does not charge'],
  ['a leaking tent', 'a camping shelter that lets rain in'],
  ['a jammed printer', 'a machine with stuck paper'],
])
const matters = [...synonyms.keys()]
const wordings = {
  taught: [
    (it, n) => `Where do I go with ${it}? My number is ${n}.`,
    (it, n) => `Order ${n}: I have ${it}. Which desk?`,
  ],
  asked: [
    (it, n) => `Hello, I have ${it}, reference ${n}. Who can help?`,
    (it, n) => `Client ${n} here, with ${it}. Where should I go with it?`,
  ],
}
const system = `You work at the door of an office. Send each visitor to the right desk: ${desks.join(', ')}. Answer as JSON: {"desk": NAME}.`
const schema = {
  type: 'object',
  properties: { desk: { enum: desks } },
  required: ['desk'],
  additionalProperties: false,
}
const response_format = { type: 'json_schema', json_schema: { name: 'desk', strict: true, schema } }

/** Calls at once. */
const atOnce = 4

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function measure(seed) {
  const chance = rng('door', seed)
  const deskFor = new Map(matters.map((matter) => [matter, desks[chance.int(desks.length)]]))
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-door-'))
  const store = join(folder, 'store')
  const config = join(folder, 'ratchet.json')
  const port = await freePort()
  const learn = {
    trainer: 'none',
    mode: 'canary',
    every: '1s',
    minEpisodes: taught,
    settle: '1s',
    judgeAfter: '1s',
    watchEvery: '1s',
    reporters: { share: 1 },
    canary: { shares: [0.5, 1], guards: false, assign: 'session', promote: 'behaviour-only' },
  }
  const upstreams = [{ name: 'embedded', url: 'embedded', model: values.model }]
  const agents = [
    { name: 'door', model: values.model, memory: values.embedder ? { embedder: values.embedder } : {}, learn },
  ]
  writeFileSync(config, JSON.stringify({ port, upstreams, agents }))
  const args = ['dist/cli/main.js', 'serve', '--json', '--config', config, '--store', store]
  const gateway = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const events = new EventEmitter()
  gateway.once('exit', (code) => events.emit('error', new Error(`the gateway ended with ${code}`)))
  createInterface({ input: gateway.stdout }).on('line', (line) => {
    const event = JSON.parse(line)
    events.emit(event.type, event)
  })
  const right = new Map()
  const url = `http://127.0.0.1:${port}`
  const headers = { 'content-type': 'application/json', 'ratchet-agent': 'door' }
  const post = async (path, body) => {
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
    return response.json()
  }
  const visit = async (phase, n) => {
    const session = `${phase}-${n}`
    const matter = matters[n % matters.length]
    const called = phase === 'asked' && values.synonyms ? synonyms.get(matter) : matter
    const wording = wordings[phase][Math.floor(n / matters.length) % 2]
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: wording(called, 1_000 + ((n * 7_919) % 9_000)) },
    ]
    const call = {
      model: values.model,
      messages,
      response_format,
      max_tokens: 40,
      temperature: 1,
      seed: seed * 100_000 + n,
    }
    const { choices } = await post(`/s/${session}/v1/chat/completions`, call)
    const named = /"desk":\s*"(\w+)"/.exec(choices[0].message.content)?.[1]
    const value = named === deskFor.get(matter)
    right.set(session, value)
    await post('/ratchet/signals', { session, name: 'thumbs', value })
  }
  const visits = async (phase, count) => {
    let next = 0
    const worker = async () => {
      while (next < count) await visit(phase, next++)
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }
  const tried = once(events, 'tried', { signal: AbortSignal.timeout(30 * 60_000) })
  try {
    await once(events, 'listening')
    await visits('taught', taught)
    await tried
    // Until the router knows of it.
    await delay(1_000)
    await visits('asked', asked)
  } finally {
    gateway.removeAllListeners('exit')
    const ended = new Promise((resolve) => gateway.once('exit', resolve))
    gateway.kill()
    await ended
  }
  const arms = { candidate: [], baseline: [] }
  let recalled = 0
  let told = 0
  let followed = 0
  const opened = await openStore({ path: join(store, 'ratchet.db') })
  for (let after; ; ) {
    const page = await opened.trajectories.list({ limit: 500, ...(after && { after }) })
    for (const {
      trajectory: { origin, nodes },
    } of page) {
      const arm = origin.servedBy?.canary?.arm
      if (arm === undefined || !origin.session.startsWith('asked')) continue
      arms[arm].push(Number(right.get(origin.session)))
      const notes = nodes.find(({ message }) => message.name === 'ratchet-memory')?.message.content
      if (notes === undefined) continue
      recalled++
      const matter = matters[Number(origin.session.split('-')[1]) % matters.length]
      if (!notes.includes(deskFor.get(matter))) continue
      told++
      if (right.get(origin.session)) followed++
    }
    after = page.at(-1)?.trajectory.id
    if (page.length < 500) break
  }
  await opened.close()
  rmSync(folder, { recursive: true, force: true })
  const mean = (all) => all.reduce((sum, one) => sum + one, 0) / all.length
  const before = Array.from({ length: taught }, (_, n) => Number(right.get(`taught-${n}`)))
  return {
    before: mean(before),
    baseline: mean(arms.baseline),
    candidate: mean(arms.candidate),
    n: [arms.baseline.length, arms.candidate.length],
    recalled: recalled / arms.candidate.length,
    told: told / arms.candidate.length,
    followed: told === 0 ? null : followed / told,
  }
}

const percent = (share) => (100 * share).toFixed(1)
console.log(
  '| seed | before | control | with the memory | sessions, control and memory | recalled something | told the right desk | of these, right |\n|---|---|---|---|---|---|---|---|',
)
const rows = []
for (let seed = first; seed < first + seeds; seed++) {
  const row = await measure(seed)
  rows.push(row)
  const { before, baseline, candidate, n, ...notes } = row
  const shares = [notes.recalled, notes.told, notes.followed].map((share) => (share === null ? '' : percent(share)))
  const cells = [seed, percent(before), percent(baseline), percent(candidate), n.join(' and '), ...shares]
  console.log(`| ${cells.join(' | ')} |`)
}
const gain = rows.map(({ candidate, baseline }) => candidate - baseline)
console.log(`\nThe memory's gain over the control, mean and 95 % interval over seeds: ${shown(gain)} points.`)
