import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { searchTools } from '../src/environment/index.ts'
import { serveRatchet } from './support/serving-ratchet.ts'
import { startTrainerProcess, type TrainerProcess } from './support/trainer-process.ts'
import { type TinyConfig, type TinyFiles, writeTinyJob } from './tiny/job.ts'
import { ratchet, startRatchet } from './tiny/ratchet.ts'
import { Summary } from './tiny/summary.ts'

/** `ratchet learn` on a model at a Tinker server: the same command, and one flag. The server is `ratchet trainer`. */
describe('ratchet learn --server', { timeout: 300_000 }, () => {
  let folder: string
  let files: TinyFiles
  let server: TrainerProcess
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ratchet-learn-server-'))
    files = writeTinyJob(join(folder, 'job'), (config) => ({
      ...config,
      precision: 'auto',
      // At alpha 32 over the rank imitation is faster.
      schedule: { ...config.schedule, primePasses: 5 },
    }))
    server = await startTrainerProcess(join(folder, 'trainer'), 0, files.model)
  }, 60_000)
  afterAll(async () => {
    await server?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  const learn = (...flags: readonly string[]) =>
    ratchet(['learn', '--config', files.config, '--store', join(folder, 'store'), ...flags])

  it('learns there, and releases what is better', async () => {
    const { code, stdout, stderr } = await learn('--server', server.url, '--json')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const told = stdout.trim().split('\n')
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ type: 'started', chosen: { temperature: 1 } })
    const summary = Summary.parse(JSON.parse(told.at(-1) ?? ''))
    expect(summary).toMatchObject({ precision: null, decision: 'promote' })
    expect(summary.learned.success).toBeGreaterThan(summary.primed.success)
  })

  it('serves from there what was learned there', async () => {
    const gateway = await serveRatchet(['--agent', 'greengrocer', '--store', join(folder, 'store')])
    try {
      const client = new OpenAI({
        baseURL: `${gateway.url}/v1`,
        apiKey: 'none',
        defaultHeaders: { 'ratchet-agent': 'greengrocer' },
      })
      const tools = searchTools.map(({ name, parameters }) => ({
        type: 'function' as const,
        function: { name, parameters: parameters as Record<string, unknown> },
      }))
      const { data, response } = await client.chat.completions
        .create({
          model: files.model,
          temperature: 0,
          messages: [{ role: 'user', content: '101 colour of lemon' }],
          tools,
        })
        .withResponse()
      expect(response.headers.get('ratchet-release')).toMatch(/./)
      expect(data.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'search' } }])
    } finally {
      expect(await gateway.stop()).toBe(0)
    }
  })

  it('is gone on with at its server, and at no other', async () => {
    const stopped = join(folder, 'stopped')
    const { child, ended, said } = startRatchet([
      'learn',
      '--config',
      files.config,
      '--store',
      stopped,
      '--server',
      server.url,
      '--json',
    ])
    // A second one would end it at once.
    const stop = () => {
      if (!said.stdout.includes('"updated"')) return
      child.stdout.off('data', stop)
      child.kill('SIGINT')
    }
    child.stdout.on('data', stop)
    expect((await ended).stderr).toContain('[learn/interrupted]')
    const { stderr } = await ratchet(['learn', '--resume', '--store', stopped, '--server', 'http://127.0.0.1:9'])
    expect(stderr).toContain('did not begin with this --server')
    const resumed = await ratchet(['learn', '--resume', '--store', stopped, '--json'])
    expect(resumed.stderr).toBe('')
    const told = resumed.stdout.trim().split('\n')
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ type: 'started', resumedAt: expect.any(Number) as number })
    expect(Summary.parse(JSON.parse(told.at(-1) ?? '')).decision).toBe('promote')
  })

  it('sends the key of the environment, and tells it nobody', async () => {
    const keys: unknown[] = []
    const refusing = createServer(({ headers }, response) => {
      keys.push(headers['x-api-key'])
      response.writeHead(401).end()
    }).listen(0, '127.0.0.1')
    await once(refusing, 'listening')
    const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`
    process.env.TINKER_API_KEY = 'tml-secret'
    try {
      const { code, stdout, stderr } = await learn('--server', url)
      expect(code).toBe(1)
      expect(stdout + stderr).not.toContain('secret')
    } finally {
      delete process.env.TINKER_API_KEY
      refusing.close()
    }
    expect(keys).toContain('tml-secret')
    const { stderr } = await learn('--server', 'http://127.0.0.1:8000/?key=secret')
    expect(stderr).toContain('TINKER_API_KEY')
  })

  it.each([['--precision', 'int8'], ['--device', 'cuda'], ['--deterministic']])(
    'refuses %s, which is for the embedded engine',
    async (...flags) => {
      const { code, stderr } = await learn('--server', server.url, ...flags)
      expect(stderr).toContain('[input/embedded-only]')
      expect(code).toBe(1)
    },
  )

  it('refuses in its configuration what a server cannot do', async () => {
    const path = join(folder, 'averaged.json')
    const config = JSON.parse(readFileSync(files.config, 'utf8')) as TinyConfig
    const schedule = { ...config.schedule, averaging: 0.5 }
    writeFileSync(path, JSON.stringify({ ...config, schedule, server: { url: server.url } }))
    const { code, stderr } = await ratchet(['learn', '--config', path, '--store', join(folder, 'other')])
    expect(stderr).toContain('[learn/trainer-lacks]')
    expect(code).toBe(1)
  })

  it('says what is no address', async () => {
    expect((await learn('--server', 'localhost')).stderr).toContain('[input/')
  })
})
