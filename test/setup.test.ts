import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { repository } from './docs/scratch.ts'
import { putSentenceModel } from './support/tiny-sentence-model.ts'
import { startUpstream, type Upstream } from './support/upstream-server.mjs'
import { ratchet } from './tiny/ratchet.ts'

let home: string
let cwd: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'ratchet-setup-'))
})
beforeEach(() => {
  cwd = mkdtempSync(join(home, 'case-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const config = () => JSON.parse(readFileSync(join(cwd, 'ratchet.json'), 'utf8')) as unknown

describe('ratchet init', () => {
  it('writes a configuration for an API, and keeps recorded traffic out of git', async () => {
    mkdirSync(join(cwd, '.git'))
    writeFileSync(join(cwd, '.gitignore'), 'node_modules')
    const args = ['init', '--upstream', 'https://api.openai.com/v1', '--upstream-key', 'OPENAI_API_KEY']
    const { code, stdout } = await ratchet([...args, '--agent', 'support', '--model', 'gpt-4o-mini'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain('npx ratchet doctor')
    expect(config()).toEqual({
      upstreams: [{ name: 'api.openai.com', url: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY' }],
      agents: [{ name: 'support', model: 'gpt-4o-mini' }],
    })
    expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\n.ratchet/\n')
  })

  it('changes nothing that is there', async () => {
    writeFileSync(join(cwd, 'ratchet.json'), '{}')
    const { code, stderr } = await ratchet(['init', '--yes'], { cwd })
    expect(code).toBe(1)
    expect(stderr).toContain('[input/already-set-up]')
    expect(config()).toEqual({})
  })

  it.each([
    ['there is nobody to ask', ['init'], 'input/not-confirmed'],
    [
      'an agent has no model',
      ['init', '--upstream', 'http://127.0.0.1:1/v1', '--agent', 'a'],
      'input/agent-without-model',
    ],
    ['an agent has no valid name', ['init', '--yes', '--agent', ''], 'input/'],
  ])('writes nothing where %s', async (_, args, errorCode) => {
    const { code, stderr } = await ratchet(args, { cwd })
    expect(code).toBe(1)
    expect(stderr).toContain(errorCode)
    expect(existsSync(join(cwd, 'ratchet.json'))).toBe(false)
  })
})

describe('ratchet doctor', () => {
  interface Told {
    readonly check: string
    readonly status: string
    readonly says: string
    readonly hint: string | null
  }
  async function doctor(given: unknown, args: readonly string[] = []) {
    if (given !== undefined) writeFileSync(join(cwd, 'ratchet.json'), JSON.stringify(given))
    const { code, stdout, stderr } = await ratchet(['doctor', '--json', ...args], { cwd })
    expect(stderr).toBe('')
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Told)
    return { code, of: (check: string) => findings.find((one) => one.check === check), findings }
  }

  let upstream: Upstream
  beforeAll(async () => {
    upstream = await startUpstream({ anyModel: true })
  })
  afterAll(() => upstream.close())

  it('finds all well, and leaves nothing behind', async () => {
    const { code, findings } = await doctor({ upstreams: [{ name: 'mine', url: upstream.url }], port: 0 })
    expect(findings.map(({ check, status }) => `${check} ${status}`)).toEqual([
      'node ok',
      'store ok',
      'configuration ok',
      'upstream mine ok',
      'port ok',
    ])
    expect(code).toBe(0)
    expect(existsSync(join(cwd, '.ratchet'))).toBe(false)
  })

  it('says that the small model is for trying out', async () => {
    const { code, of } = await doctor({ port: 0 })
    expect(of('upstream embedded')).toMatchObject({ status: 'warning', hint: expect.stringContaining('--upstream') })
    expect(code).toBe(0)
  })

  it('names each thing that is wrong, and what to do', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { code, of } = await doctor({
      upstreams: [
        { name: 'gone', url: 'http://127.0.0.1:1/v1' },
        { name: 'keyless', url: upstream.url, keyEnv: 'RATCHET_NO_SUCH_KEY' },
      ],
      port,
    })
    other.close()
    expect(code).toBe(1)
    expect(of('upstream gone')).toMatchObject({ status: 'failure', says: expect.stringContaining('ECONNREFUSED') })
    expect(of('upstream keyless')).toMatchObject({
      status: 'failure',
      says: expect.stringContaining('RATCHET_NO_SUCH_KEY'),
    })
    expect(of('port')).toMatchObject({ status: 'failure', hint: expect.stringContaining('--port') })
  })

  it('finds whether the sentence model of a memory is here', async () => {
    const config = {
      upstreams: [{ name: 'mine', url: upstream.url }],
      agents: [{ name: 'support', model: 'm', memory: { embedder: 'minilm' } }],
      port: 0,
    }
    process.env['RATCHET_MODELS'] = cwd
    try {
      const before = await doctor(config)
      expect(before.code).toBe(1)
      expect(before.of('memory of support')).toMatchObject({
        status: 'failure',
        hint: 'Run: npx ratchet pull minilm',
      })
      putSentenceModel(join(cwd, 'minilm'))
      const after = await doctor(config)
      expect(after.code).toBe(0)
      expect(after.of('memory of support')).toMatchObject({
        status: 'ok',
        says: 'It compares sentences by minilm, 4 numbers each.',
      })
    } finally {
      delete process.env['RATCHET_MODELS']
    }
  })

  it('goes on where the configuration is broken', async () => {
    writeFileSync(join(cwd, 'ratchet.json'), '{')
    const { code, of } = await doctor(undefined)
    expect(code).toBe(1)
    expect(of('configuration')).toMatchObject({ status: 'failure', says: expect.stringContaining('not JSON') })
    expect(of('store')).toMatchObject({ status: 'ok' })
  })

  it.runIf(process.platform === 'linux')('finds a store that cannot be made, and ends', async () => {
    const { code, of } = await doctor({ port: 0 }, ['--store', '/proc/ratchet'])
    expect(code).toBe(1)
    expect(of('store')).toMatchObject({ status: 'failure', says: expect.stringContaining('/proc') })
  })
})

describe('the command before it is built', () => {
  it('says so', () => {
    mkdirSync(join(cwd, 'bin'))
    for (const file of ['package.json', 'bin/ratchet.cjs']) {
      writeFileSync(join(cwd, file), readFileSync(join(repository, file)))
    }
    const { status, stderr } = spawnSync(process.execPath, ['bin/ratchet.cjs', 'serve'], { cwd, encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toBe('Ratchet is not built yet.\n  Run `npm ci` and `npm run build` in its folder.\n')
  })

  it('refuses a Node that is too old, in words', () => {
    mkdirSync(join(cwd, 'bin'))
    writeFileSync(join(cwd, 'bin/ratchet.cjs'), readFileSync(join(repository, 'bin/ratchet.cjs')))
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ engines: { node: '>=99.1' } }))
    const { status, stderr } = spawnSync(process.execPath, ['bin/ratchet.cjs'], { cwd, encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toMatch(/^Ratchet needs Node 99\.1 or newer; this is \d+\.\d+\.\d+\.\n/)
  })
})
