import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Signal, Trajectory } from '../src/core/index.ts'
import { openStore } from '../src/store/index.ts'
import { type ServingRatchet, serveRatchet } from './support/serving-ratchet.ts'
import { startUpstream, type Upstream } from './support/upstream-server.mjs'

/** Runs an example as its first lines say, and returns what it printed. */
function example(name: string, url: string, question: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [`examples/${name}.mjs`, question], {
      env: { ...process.env, RATCHET_URL: url, OPENAI_AGENTS_DISABLE_TRACING: '1' },
    })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${name} ended with ${code}:\n${output}\n${errors}`)),
    )
  })
}

async function recorded(store: string): Promise<readonly { trajectory: Trajectory; signals: readonly Signal[] }[]> {
  const reading = await openStore({ path: join(store, 'ratchet.db'), readonly: true })
  try {
    const records = await reading.trajectories.list({ limit: 100 })
    return await Promise.all(
      records.map(async ({ trajectory }) => ({ trajectory, signals: await reading.signals.of(trajectory.id) })),
    )
  } finally {
    await reading.close()
  }
}

const said = ({ nodes }: Trajectory) => nodes.map(({ message: { role, content } }) => [role, content])
const sampledTurns = ({ nodes }: Trajectory) =>
  nodes.filter(({ spans }) => spans.some((span) => span.kind === 'sampled' && span.tokens.length > 0)).length

describe('the examples, with a model that calls their tools', () => {
  let folder: string
  let upstream: Upstream
  let gateway: ServingRatchet
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ratchet-examples-'))
    upstream = await startUpstream({ anyModel: true, tellsTokens: true })
    gateway = await serveRatchet(['--store', folder, '--upstream', upstream.url])
  })
  afterAll(async () => {
    await gateway?.stop()
    await upstream?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('openai-sdk: streams through a tool loop; its thumbs-down finds the answer', async () => {
    const output = await example('openai-sdk', gateway.url, '!find_order {"order":42}')
    expect(output).toContain('The tool said: {"order":42,"at":"Oslo"}')
    const all = await recorded(folder)
    const mine = all.find(({ trajectory }) => trajectory.task.instruction.startsWith('!find_order'))
    expect(mine && said(mine.trajectory)).toEqual([
      ['system', 'You help customers with their orders. Be brief.'],
      ['user', '!find_order {"order":42}'],
      ['assistant', ''],
      ['tool', '{"order":42,"at":"Oslo"}'],
      ['assistant', 'The tool said: {"order":42,"at":"Oslo"}'],
    ])
    expect(mine?.trajectory.origin).toMatchObject({ kind: 'traffic', session: 'order-42' })
    expect(mine?.trajectory.steps.map(({ call }) => call?.finish)).toEqual(['tool_calls', 'stop'])
    expect(mine && sampledTurns(mine.trajectory)).toBe(2)
    expect(mine?.signals).toMatchObject([{ name: 'thumbs', value: false, node: mine?.trajectory.nodes.at(-1)?.id }])
  })

  it.each([
    ['ai-sdk', 3],
    ['langchain', 2],
    ['openai-agents', 2],
  ])('%s: its conversation is one trajectory, without a session', async (name, calls) => {
    const before = new Set((await recorded(folder)).map(({ trajectory }) => trajectory.id))
    const question = '!weather {"city":"Oslo"}'
    expect(await example(name, gateway.url, question)).toContain('The tool said: {"city":"Oslo","celsius":7}')
    const mine = (await recorded(folder)).filter(({ trajectory }) => !before.has(trajectory.id))
    expect(mine).toHaveLength(1)
    const [one] = mine
    expect(new Set(one?.trajectory.steps.map(({ call }) => call?.id)).size).toBe(calls)
    expect(one && sampledTurns(one.trajectory)).toBe(calls)
    expect(one?.trajectory.stopReason).toBe('done')
  })
})

describe('the examples, on the embedded engine', () => {
  let folder: string
  let gateway: ServingRatchet
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ratchet-examples-'))
    gateway = await serveRatchet(['--store', folder])
  })
  afterAll(async () => {
    await gateway?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each(['openai-sdk', 'ai-sdk', 'langchain', 'openai-agents'])('%s', async (name) => {
    const before = new Set((await recorded(folder)).map(({ trajectory }) => trajectory.id))
    await example(name, gateway.url, 'How warm is it in Oslo?')
    const mine = (await recorded(folder)).filter(({ trajectory }) => !before.has(trajectory.id))
    expect(mine).toHaveLength(1)
    const [one] = mine
    // Every turn carries the tokens and log-probabilities that it was sampled with.
    expect(one && sampledTurns(one.trajectory)).toBe(one?.trajectory.steps.length)
    for (const { propensity } of one?.trajectory.decisions ?? []) expect(propensity.log).toBeLessThanOrEqual(0)
  })
})

it('the hotel’s job is sound: its expert is always right, and who knows no rule is not', async () => {
  const output = await example('hotel/check', '', '')
  const solved = (name: string) => Number(new RegExp(`^${name} .* ([\\d.]+) %$`, 'm').exec(output)?.[1])
  expect(['expert', 'null'].map(solved)).toEqual([100, 0])
  expect(solved('random')).toBeLessThan(5)
  expect(solved('careless')).toBeLessThan(60)
})
