import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Trajectory, TrajectoryId } from '../src/core/index.ts'
import { readResponseId, ServeConfig, startGateway, trajectoryOfSession } from '../src/gateway/index.ts'
import { openAiUpstream } from '../src/model/openai/index.ts'
import { openStore } from '../src/store/index.ts'
import { type GatewayPlace, postgresPlace, reading, sqlitePlace } from './support/gateway-place.ts'
import { startGatewayProcess } from './support/gateway-process.ts'
import { startUpstream, type Upstream } from './support/upstream-server.mjs'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream({ record: false, tellsTokens: true, chunkDelayMs: 15 })
})
afterAll(() => upstream.close())

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

const minute = 60_000
const hour = 60 * minute
/** Where the clock stands beside the true time, turn by turn, in milliseconds: back, ahead, and years away. */
const steps = [0, -hour, -hour - 1_000, 2 * hour, 0, -24 * hour, -5 * 365 * 24 * hour, 1_000]

/** A gateway whose clock can be set. */
interface Clocked {
  readonly place: GatewayPlace
  readonly url: string
  readonly step: (offset: number) => void
}

interface Asked {
  readonly messages: OpenAI.ChatCompletionMessageParam[]
  readonly stream: boolean
  readonly headers: Record<string, string>
  /** In the middle of the answer. */
  readonly midway?: () => void
}

async function ask(url: string, { messages, stream, headers, midway }: Asked): Promise<{ id: string; text: string }> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
  const body = { model: 'scripted', messages }
  if (!stream) {
    const { id, choices } = await client.chat.completions.create(body, { headers })
    return { id, text: choices[0]?.message.content ?? '' }
  }
  let said = { id: '', text: '' }
  let chunks = 0
  for await (const { id, choices } of await client.chat.completions.create({ ...body, stream: true }, { headers })) {
    said = { id, text: said.text + (choices[0]?.delta.content ?? '') }
    if ((chunks += 1) === 4) midway?.()
  }
  return said
}

/** Talks in a session and without one while the clock steps, and holds that nothing breaks and that the order is kept. */
async function talk({ url, place, step }: Clocked): Promise<void> {
  const session = 'through time'
  const named: OpenAI.ChatCompletionMessageParam[] = []
  const recognised: OpenAI.ChatCompletionMessageParam[] = []
  const known = new Set<TrajectoryId | undefined>()
  for (const [i, offset] of steps.entries()) {
    step(offset)
    const stream = i % 2 === 1
    const headers = { 'ratchet-session': session, 'idempotency-key': `turn-${i}` }
    named.push({ role: 'user', content: `${i}: one two three four five six` })
    const asked = { messages: named, stream, headers }
    const answer = await ask(url, { ...asked, midway: () => step(offset - 10 * minute) })
    expect(answer.text).toBe(`You said: ${i}: one two three four five six`)
    // Repeated after another step back, it is the same answer.
    expect(await ask(url, asked)).toEqual(answer)
    named.push({ role: 'assistant', content: answer.text })

    recognised.push({ role: 'user', content: `nameless ${i}` })
    const other = await ask(url, { messages: recognised, stream, headers: {} })
    recognised.push({ role: 'assistant', content: other.text })
    known.add(readResponseId(other.id)?.trajectory)

    const signal = { session, name: 'thumbs', value: i, idempotencyKey: `signal-${i}` }
    for (const outcome of ['recorded', 'repeated']) {
      const taken = await fetch(`${url}/ratchet/signals`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(signal),
      })
      expect(await taken.json()).toMatchObject({ signals: [{ outcome }] })
    }
  }
  expect(known.size).toBe(1)
  const id = trajectoryOfSession('default', session)
  await reading(place, async (store) => {
    for (const [trajectory, said] of [
      [id, named],
      [[...known][0], recognised],
    ] as const) {
      if (trajectory === undefined) throw new Error('an answer names no trajectory')
      expectInOrder((await store.trajectories.get(trajectory))?.trajectory, said)
    }
    const values = (await store.signals.of(id)).map(({ value }) => value)
    expect(new Set(values)).toEqual(new Set(steps.keys()))
    expect(values).toHaveLength(steps.length)
  })
  const listed = (await (await fetch(`${url}/ratchet/trajectories`)).json()) as { trajectories: unknown[] }
  expect(listed.trajectories).toHaveLength(2)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
}

/** One branch, in the order in which it was said, and no duration below nothing. */
function expectInOrder(trajectory: Trajectory | undefined, said: readonly OpenAI.ChatCompletionMessageParam[]): void {
  expect(trajectory?.nodes.map(({ message }) => ({ role: message.role, content: message.content }))).toEqual(said)
  expect(trajectory?.nodes.map(({ parent }) => parent)).toEqual([
    null,
    ...(trajectory?.nodes ?? []).slice(0, -1).map(({ id }) => id),
  ])
  expect(trajectory?.stopReason).toBe('done')
  expect(trajectory?.seconds).toBeGreaterThanOrEqual(0)
  expect(trajectory?.steps).toHaveLength(said.length / 2)
  for (const { call } of trajectory?.steps ?? []) {
    expect(call?.totalMs).toBeGreaterThanOrEqual(0)
    expect(call?.firstTokenMs ?? 0).toBeGreaterThanOrEqual(0)
  }
}

const config = () => ({ port: 0, journalMs: 20, upstreams: [{ name: 'scripted', url: upstream.url }] })

describe.each([
  ['SQLite', () => Promise.resolve(sqlitePlace())],
  ['PostgreSQL', postgresPlace],
])('a clock that steps back, on %s', (_, makePlace) => {
  it('breaks nothing: answers, repeats, recognition, signals and their order are as they were', async () => {
    const place = await makePlace()
    cleanups.push(place.remove)
    const store = await openStore(place.location)
    cleanups.push(() => store.close())
    const model = openAiUpstream({ name: 'scripted', url: upstream.url })
    cleanups.push(() => model.close())
    let offset = 0
    const problems: unknown[] = []
    const note = (...told: unknown[]) => void problems.push(told)
    const gateway = await startGateway({
      config: ServeConfig.parse(config()),
      store,
      upstream: model,
      exclusive: 'path' in place.location,
      logger: { info: () => {}, warn: note, error: note },
      clock: { now: () => Date.now() + offset },
    })
    cleanups.push(() => gateway.close())
    await talk({ place, url: gateway.url, step: (to) => (offset = to) })
    expect(problems).toEqual([])
  })
})

const faketime = ['x86_64-linux-gnu', 'aarch64-linux-gnu']
  .map((machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`)
  .find(existsSync)

// Where libfaketime is installed, the whole process lives by another clock: the store's threads and SQLite too.
describe.skipIf(faketime === undefined)('a machine whose clock steps back', () => {
  it('breaks nothing', async () => {
    const place = sqlitePlace()
    cleanups.push(place.remove)
    const folder = mkdtempSync(join(tmpdir(), 'ratchet-clock-'))
    cleanups.push(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'offset')
    const step = (milliseconds: number) =>
      writeFileSync(file, `${milliseconds < 0 ? '-' : '+'}${Math.abs(milliseconds) / 1_000}s`)
    step(0)
    const clock = ['FAKETIME_NO_CACHE=1', 'FAKETIME_DONT_FAKE_MONOTONIC=1', `FAKETIME_TIMESTAMP_FILE=${file}`]
    const before = ['env', `LD_PRELOAD=${faketime}`, ...clock]
    const gateway = startGatewayProcess({ store: place.store, config: config(), before })
    cleanups.push(() => gateway.kill())
    const url = await gateway.listening
    await talk({ place, url, step })
    const { nodes } = await reading(place, async (store) => {
      const recorded = await store.trajectories.get(trajectoryOfSession('default', 'through time'))
      return recorded?.trajectory ?? { nodes: [] }
    })
    // It did live by that clock.
    expect(Math.min(...nodes.map(({ at }) => at ?? 0))).toBeLessThan(Date.now() - 4 * 365 * 24 * hour)
    expect(gateway.log).toEqual([])
    gateway.send('SIGTERM')
    expect(await gateway.ended).toEqual({ code: 0, signal: null })
  })
})
