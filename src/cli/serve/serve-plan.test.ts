import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { servePlan } from './serve-plan.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-serve-plan-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function configFile(config: object): string {
  const path = join(folder, 'serve.json')
  writeFileSync(path, JSON.stringify(config))
  return path
}

describe('what is to be served', () => {
  it('is the file with how its agents learn, and the flags over it', async () => {
    const learn = { mode: 'canary', every: '2h', settle: '90s' }
    const config = configFile({ port: 9000, tenant: 'acme', agents: [{ name: 'support', model: 'small', learn }] })
    const plan = await servePlan({ config, port: 0, record: 'best-effort' })
    expect(plan).toMatchObject({ port: 0, record: 'best-effort', tenant: 'acme', host: '127.0.0.1' })
    expect(plan.agents[0]?.learn).toMatchObject({ mode: 'canary', every: 7_200_000, settle: 90_000 })
  })

  it('takes its upstreams from the flags where they name some', async () => {
    const config = configFile({ upstreams: [{ name: 'file', url: 'https://file.example/v1' }] })
    expect((await servePlan({ config })).upstreams).toMatchObject([{ name: 'file' }])
    const named = await servePlan({ config, upstream: ['https://flag.example/v1'], upstreamKey: 'KEY' })
    expect(named.upstreams).toMatchObject([{ name: 'flag.example', keyEnv: 'KEY', retries: 2 }])
    expect((await servePlan({ config, model: 'small' })).upstreams).toMatchObject([{ url: 'embedded', model: 'small' }])
  })

  it('takes its model from a Tinker server where the flags name one', async () => {
    const server = 'http://127.0.0.1:8000'
    expect((await servePlan({ server, model: 'small' })).upstreams).toMatchObject([
      { url: 'tinker', server: { url: server, kind: 'tinker' }, model: 'small' },
    ])
    const told = await servePlan({ server, serverKind: 'skyrl-jax', serverFolder: 'models/small', model: 'small' })
    expect(told.upstreams[0]?.server).toEqual({ url: server, kind: 'skyrl-jax', folder: 'models/small' })
  })

  it.each([
    ['agents of its own', { agents: [{ name: 'support', model: 'small' }] }, 'support'],
    ['a tenant', { tenant: 'acme' }, 'acme'],
  ])('refuses --agent beside a configuration with %s', async (_, config, named) => {
    await expect(servePlan({ config: configFile(config), agent: 'librarian' })).rejects.toMatchObject({
      code: 'input/agent-brings-model',
      message: expect.stringContaining(named) as string,
    })
  })

  it.each([
    ['a server without its url', { name: 'a', url: 'embedded', server: { url: 'http://127.0.0.1:8000' } }],
    ['its url without a server', { name: 'a', url: 'tinker' }],
  ])('refuses %s', async (_, upstream) => {
    await expect(servePlan({ config: configFile({ upstreams: [upstream] }) })).rejects.toMatchObject({
      code: 'input/invalid',
      message: expect.stringContaining('both, or neither') as string,
    })
  })

  it.each([
    ['input/invalid', { port: 70_000 }],
    ['input/model-and-upstream', { model: 'small', upstream: ['https://flag.example/v1'] }],
    ['input/key-without-upstream', { upstreamKey: 'KEY' }],
    ['input/server-and-upstream', { server: 'http://127.0.0.1:8000', upstream: ['https://flag.example/v1'] }],
    ['input/agent-brings-model', { agent: 'librarian', model: 'small' }],
    ['input/invalid', { server: 'no address' }],
    ['input/no-server', { serverKind: 'skyrl-jax' as const }],
    ['input/no-server', { agent: 'librarian', serverFolder: 'models/small' }],
  ])('%s', async (code, flags) => {
    await expect(servePlan(flags)).rejects.toMatchObject({ code })
  })
})
