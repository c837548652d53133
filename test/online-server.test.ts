import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openStore } from '../src/store/index.ts'
import { type ServingRatchet, serveRatchet } from './support/serving-ratchet.ts'
import { startUpstream } from './support/upstream-server.mjs'
import { startTrainerProcess, type TrainerProcess } from './support/trainer-process.ts'
import { writeTinyModel } from './tiny/model.ts'

/** An agent whose model is at a Tinker server: the gateway samples there, and what its traffic teaches is trained there. */
describe('a gateway before a Tinker server', { timeout: 300_000 }, () => {
  let folder: string
  let model: string
  let server: TrainerProcess
  let gateway: ServingRatchet
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ratchet-online-server-'))
    model = join(folder, 'tiny')
    writeTinyModel(model, { words: ['red', 'blue'] })
    server = await startTrainerProcess(join(folder, 'trainer'), 0, model)
    const learn = {
      mode: 'automatic',
      every: '1s',
      minEpisodes: 24,
      settle: '0s',
      watchEvery: '1s',
      judgeAfter: '1s',
      policy: { learningRate: 1e-3, minibatches: 2 },
      reporters: { share: 1, trusted: ['open'] },
      rubric: { implicit: false },
      canary: { shares: [0.5], sessionsPerStep: 4, promote: 'behaviour-only' },
    }
    const config = {
      upstreams: [{ name: 'there', url: 'tinker', server: { url: server.url }, model }],
      agents: [{ name: 'painter', model, rank: 4, learn }],
    }
    writeFileSync(join(folder, 'serve.json'), JSON.stringify(config))
    gateway = await serveRatchet(['--config', join(folder, 'serve.json'), '--store', join(folder, 'store')])
  }, 120_000)
  afterAll(async () => {
    await gateway?.stop()
    await server?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  const headers = (session: string) => ({
    'content-type': 'application/json',
    'ratchet-agent': 'painter',
    'ratchet-session': session,
  })

  const ask = (session: string, more: object = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: headers(session),
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: 'red or blue?' }],
        stop: ['red', 'blue', 'a', 'e'],
        max_tokens: 100,
        ...more,
      }),
    })

  it('tells whole answers and streams', async () => {
    const whole = await ask('whole', { temperature: 0 })
    expect(await whole.json()).toMatchObject({ object: 'chat.completion', model })
    const stream = await (await ask('stream', { stream: true })).text()
    expect(stream.trim().endsWith('data: [DONE]')).toBe(true)
  })

  it('refuses what the server cannot do, and says why', async () => {
    const warm = await ask('warm', { temperature: 0.7 })
    expect(warm.status).toBe(400)
    expect(await warm.json()).toMatchObject({ error: { code: 'unsupported_value', param: 'temperature' } })
  })

  it('learns there from what users say, and a share of them get what came of it', async () => {
    for (let i = 0; i < 30; i++) {
      expect((await ask(`s${i}`)).status).toBe(200)
      const signal = { session: `s${i}`, name: 'thumbs', value: i % 2 === 0 }
      const said = await fetch(`${gateway.url}/ratchet/signals`, {
        method: 'POST',
        headers: headers(`s${i}`),
        body: JSON.stringify(signal),
      })
      expect(said.status).toBeLessThan(300)
    }
    const store = await openStore({ path: join(folder, 'store', 'ratchet.db'), readonly: true })
    try {
      const armOf = async (session: string) => {
        const [record] = await store.trajectories.list({ session, limit: 1 })
        const origin = record?.trajectory.origin
        return origin?.kind === 'traffic' ? origin.servedBy?.canary?.arm : undefined
      }
      await vi.waitUntil(async () => (await store.canaries.list({ limit: 1 })).length > 0, {
        timeout: 120_000,
        interval: 500,
      })
      const arms: unknown[] = []
      for (let i = 0; i < 40 && !arms.includes('candidate'); i++) {
        expect((await ask(`later-${i}`)).status).toBe(200)
        arms.push(await armOf(`later-${i}`))
      }
      expect(arms).toContain('candidate')
      const [run] = await store.runs.list({ limit: 1 })
      expect(run?.failure).toBe(null)
      const [version] = await Promise.all(Object.values(run?.versionsOut ?? {}).map((id) => store.versions.get(id)))
      expect(version?.value).toMatchObject({ kind: 'weights', adapter: { at: 'trainer' } })
    } finally {
      await store.close()
    }
  })
})

it('a gateway starts without its Tinker server, and another upstream answers its agent', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-no-server-'))
  const other = await startUpstream({ anyModel: true })
  try {
    const model = 'minimind2-small'
    const config = {
      upstreams: [
        { name: 'there', url: 'tinker', server: { url: 'http://127.0.0.1:9' }, model },
        { name: 'other', url: other.url },
      ],
      agents: [{ name: 'painter', model, learn: { mode: 'canary' } }],
    }
    writeFileSync(join(folder, 'serve.json'), JSON.stringify(config))
    const gateway = await serveRatchet(['--config', join(folder, 'serve.json'), '--store', join(folder, 'store')])
    try {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'ratchet-agent': 'painter' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'red or blue?' }] }),
      })
      expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'You said: red or blue?' } }] })
    } finally {
      expect(await gateway.stop()).toBe(0)
    }
  } finally {
    await other.close()
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
