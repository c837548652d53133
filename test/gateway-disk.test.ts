import { closeSync, copyFileSync, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { audit } from './support/gateway-audit.ts'
import { startClients } from './support/gateway-clients.ts'
import { allTrajectories, type GatewayPlace, reading, sqlitePlace } from './support/gateway-place.ts'
import {
  type GatewayProcess,
  killGateways,
  onSmallDisk,
  smallDisks,
  startGatewayProcess,
} from './support/gateway-process.ts'
import { startUpstream, type Upstream } from './support/upstream-server.mjs'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream({ record: false, tellsTokens: true, chunkDelayMs: 3 })
})
afterAll(() => upstream.close())

const places: GatewayPlace[] = []
const made = (place: GatewayPlace): GatewayPlace => {
  places.push(place)
  return place
}
afterEach(async () => {
  killGateways()
  for (const place of places.splice(0)) await place.remove()
})

/** A gateway whose store is on a disk of a few megabytes. */
async function gatewayOnSmallDisk(record: 'required' | 'best-effort') {
  const { store } = made(sqlitePlace())
  const config = {
    record,
    journalMs: 50,
    upstreams: [{ name: 'scripted', url: upstream.url }],
    limits: { requestsPerMinute: 1_000_000, signalsPerDay: 1_000_000 },
  }
  const process = startGatewayProcess({ store, config, before: onSmallDisk(store, '24m'), logLevel: 'silent' })
  const url = await process.listening
  // The disk as the process sees it.
  const disk = join(`/proc/${process.pid}/root`, store)
  return { process, url, disk }
}

const ballast = (disk: string) => join(disk, 'ballast')

/** Leaves not a byte. */
function fill(disk: string): void {
  const file = openSync(ballast(disk), 'a')
  const bytes = Buffer.alloc(64 * 1024)
  try {
    for (;;) writeSync(file, bytes)
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' })
  } finally {
    closeSync(file)
  }
}

/** A copy of the store as it lies on the disk, while nobody writes: it can be opened where the disk is not seen. */
function copyOf(disk: string): GatewayPlace {
  const place = made(sqlitePlace())
  for (const file of ['ratchet.db', 'ratchet.db-wal']) {
    if (existsSync(join(disk, file))) copyFileSync(join(disk, file), join(place.store, file))
  }
  return place
}

const ask = (url: string, text: string, stream = false, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'scripted', stream, messages: [{ role: 'user', content: text }] }),
    signal: AbortSignal.timeout(60_000),
  })

const readiness = async (url: string) => {
  const response = await fetch(`${url}/readyz`)
  return { status: response.status, body: await response.json() }
}

/** A counter's value; 0 while it has none. */
async function counted(url: string, series: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((line) => line.startsWith(`${series} `))
  return Number(line?.split(' ')[1] ?? 0)
}

describe.skipIf(!smallDisks())('a disk that is full', () => {
  it('under `required`: calls fail and say why, nothing acknowledged is lost, and all is well when there is room', async () => {
    const { process, url, disk } = await gatewayOnSmallDisk('required')
    const clients = startClients({ count: 8, url: () => url, words: 30, patientWith: ['store/disk-full'] })
    await expect.poll(() => clients.acknowledged.length, { timeout: 120_000 }).toBeGreaterThan(40)
    expect((await readiness(url)).status).toBe(200)

    fill(disk)
    await expect.poll(() => clients.refusals.get('store/disk-full') ?? 0, { timeout: 120_000 }).toBeGreaterThan(40)
    const refused = await ask(url, 'question')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ error: { code: 'store/disk-full', type: 'server_error' } })
    const stream = await (await ask(url, 'question', true)).text()
    expect(stream).toContain('store/disk-full')
    expect(stream).not.toContain('[DONE]')
    const signal = { session: 's', name: 'thumbs', value: true }
    const told = await fetch(`${url}/ratchet/signals`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(signal),
    })
    expect(told.status).toBe(503)
    await expect
      .poll(() => readiness(url), { timeout: 20_000 })
      .toEqual({ status: 503, body: { status: 'not-ready', checks: { store: 'ok', commits: 'failed' } } })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await counted(url, 'ratchet_commits_total{outcome="failed"}')).toBeGreaterThan(40)
    expect(await counted(url, 'ratchet_unrecorded_answers_total')).toBe(0)

    rmSync(ballast(disk))
    const before = clients.acknowledged.length
    await expect.poll(() => clients.acknowledged.length, { timeout: 120_000 }).toBeGreaterThan(before + 20)
    await expect.poll(async () => (await readiness(url)).status, { timeout: 30_000 }).toBe(200)
    clients.asked.add('question')
    expect((await ask(url, 'question')).status).toBe(200)
    await clients.stop()
    const place = copyOf(disk)
    expect(await place.damage()).toEqual([])
    const { problems } = await audit(place, clients)
    expect(problems).toEqual([])
    expect([...clients.refusals.keys()]).toEqual(['store/disk-full'])
    process.send('SIGTERM')
    expect(await process.ended).toEqual({ code: 0, signal: null })
  })

  it('under `best-effort`: answers go on and say that they are not recorded, and the metric counts them', async () => {
    const { process, url, disk } = await gatewayOnSmallDisk('best-effort')
    const first = await ask(url, 'while there is room')
    expect([first.status, first.headers.get('ratchet-recorded')]).toEqual([200, null])

    fill(disk)
    // What is left in the database's own files is used up first.
    await expect
      .poll(async () => (await ask(url, 'x'.repeat(50_000))).headers.get('ratchet-recorded'), { timeout: 60_000 })
      .toBe('false; store/disk-full')
    const counter = await counted(url, 'ratchet_unrecorded_answers_total')
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const response = await ask(url, `question ${i} ${'x'.repeat(20_000)}`, i % 2 === 0)
        return { response, text: await response.text(), i }
      }),
    )
    for (const { response, text, i } of answers) {
      expect(response.status).toBe(200)
      if (i % 2 === 0) {
        expect(text).toContain(': ratchet-recorded: false; store/disk-full\n\n')
        expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
      } else {
        expect(response.headers.get('ratchet-recorded')).toBe('false; store/disk-full')
        expect(text).toContain(`You said: question ${i}`)
      }
    }
    expect(await counted(url, 'ratchet_unrecorded_answers_total')).toBe(counter + 40)
    expect((await readiness(url)).status).toBe(503)

    rmSync(ballast(disk))
    const session = 'after the flood'
    await expect
      .poll(async () => (await ask(url, 'again')).headers.get('ratchet-recorded'), { timeout: 60_000 })
      .toBeNull()
    expect((await ask(url, 'recorded again', false, { 'ratchet-session': session })).status).toBe(200)
    await expect.poll(async () => (await readiness(url)).status, { timeout: 30_000 }).toBe(200)
    const place = copyOf(disk)
    expect(await place.damage()).toEqual([])
    const recorded = await reading(place, allTrajectories)
    const names = recorded.map(({ trajectory }) => trajectory.origin)
    expect(names).toContainEqual(expect.objectContaining({ session }))
    process.send('SIGTERM')
    expect(await process.ended).toEqual({ code: 0, signal: null })
  })

  it('when it starts: it says so, and ends', async () => {
    const { store } = made(sqlitePlace())
    const config = { upstreams: [{ name: 'scripted', url: upstream.url }] }
    const process: GatewayProcess = startGatewayProcess({ store, config, before: onSmallDisk(store, '64k') })
    await expect(process.listening).rejects.toThrow('store/disk-full')
    expect(await process.ended).toEqual({ code: 1, signal: null })
    expect(process.stderr()).not.toMatch(/^\s+at /m)
  })
})
