import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../src/core/index.ts'
import { Registry } from '../src/release/index.ts'
import { openStore } from '../src/store/index.ts'
import { admissionOf, agent, prompt } from './support/canary-parts.ts'
import { type GatewayProcess, killGateways, startGatewayProcess } from './support/gateway-process.ts'
import { makeTestDatabase, type TestDatabase } from './support/postgres.ts'
import { startUpstream, type Upstream } from './support/upstream-server.mjs'

/*
 * Two gateways in processes of their own on one PostgreSQL: whatever goes back through one of them, or past both, is
 * served by both within a second, for the next request, without a restart.
 */
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const reachMs = 1_000

let database: TestDatabase
let upstream: Upstream
let store: Store
let gateways: readonly GatewayProcess[]
let urls: readonly string[]
beforeAll(async () => {
  database = await makeTestDatabase()
  upstream = await startUpstream({ record: false, say: ({ messages }) => String(messages[0]?.content) })
  const config = {
    upstreams: [{ name: 'house', url: upstream.url }],
    agents: [{ name: agent, model: 'scripted', system: 'First.' }],
  }
  gateways = [0, 1].map(() => startGatewayProcess({ store: database.url, config }))
  urls = await Promise.all(gateways.map(({ listening }) => listening))
  store = await openStore({ url: database.url })
})
afterAll(async () => {
  killGateways()
  await Promise.all(gateways.map(({ ended }) => ended))
  await store.close()
  await upstream.close()
  await database.drop()
})

/** The agent's own system prompt, which it sends itself. */
const own: readonly OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'First.' }]

/** What a new session of the agent is answered with: the system prompt that serves it. */
async function prompted(url: string): Promise<string> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
  const { choices } = await client.chat.completions.create(
    { model: 'scripted', messages: [...own, { role: 'user', content: 'Which?' }] },
    { headers: { 'ratchet-agent': agent } },
  )
  return choices[0]?.message.content ?? ''
}

/** Asks every gateway until it serves `text`, and for a while after; how long each took since `begun`, in milliseconds. */
async function reached(text: string, begun: number): Promise<readonly number[]> {
  return Promise.all(
    urls.map(async (url) => {
      while ((await prompted(url)) !== text) {
        if (performance.now() - begun > 10_000) throw new Error(`${url} never served "${text}"`)
      }
      const took = performance.now() - begun
      for (let i = 0; i < 5; i++) expect(await prompted(url)).toBe(text)
      return took
    }),
  )
}

const expectSoon = (times: readonly number[]) => {
  for (const took of times) expect(took).toBeLessThan(reachMs)
}

async function learn(text: string): Promise<string> {
  const registry = new Registry(store)
  const { versions } = (await registry.current(agent)).release
  const receipt = admissionOf(versions, { ...versions, system: prompt(text).id })
  return (await registry.promote({ receipt, versions: [prompt(text)], run: null })).id
}

it('a release that goes back through one gateway is gone from both', async () => {
  await reached('First.', performance.now())
  await learn('Second.')
  expectSoon(await reached('Second.', performance.now()))
  const [first = ''] = urls
  const begun = performance.now()
  const answer = await fetch(`${first}/ratchet/agents/${agent}/rollback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  expect(answer.status).toBe(200)
  expectSoon(await reached('First.', begun))
})

it('a canary that goes back past both is gone from both, also for sessions that had it', async () => {
  const registry = new Registry(store)
  const canary = await registry.startCanary({
    agent,
    versions: [prompt('Tried.')],
    admission: null,
    run: null,
    gate: { name: 'canary', config: {}, shares: [1] },
  })
  expectSoon(await reached('Tried.', performance.now()))
  const talks = urls.map(openTalk)
  for (const talk of talks) expect(await talk('Which?')).toBe('Tried.')
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'rollback', '--store', database.url], {
    env: { ...process.env, NO_COLOR: '1' },
  })
  const begun = performance.now()
  expect(stdout).toContain(`The canary ${canary.id} of ${agent} was rolled back`)
  expectSoon(await reached('First.', begun))
  for (const talk of talks) expect(await talk('And now?')).toBe('First.')
})

/** A conversation that goes on in one session. */
function openTalk(url: string): (words: string) => Promise<string> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
  const messages: OpenAI.ChatCompletionMessageParam[] = [...own]
  const headers = { 'ratchet-agent': agent, 'ratchet-session': `talk-${url}` }
  return async (words) => {
    messages.push({ role: 'user', content: words })
    const { choices } = await client.chat.completions.create({ model: 'scripted', messages }, { headers })
    const content = choices[0]?.message.content ?? ''
    messages.push({ role: 'assistant', content })
    return content
  }
}
