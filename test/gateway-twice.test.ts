import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import OpenAI from 'openai'
import { type GatewayPlace, postgresPlace } from './support/gateway-place.ts'
import { type GatewayProcess, killGateways, startGatewayProcess } from './support/gateway-process.ts'
import { startUpstream, type Upstream } from './support/upstream-server.mjs'

let place: GatewayPlace
let upstream: Upstream
afterEach(async () => {
  killGateways()
  await upstream.close()
  await place.remove()
})

/** Two gateways on one PostgreSQL, before an upstream that takes its time. */
async function two(delayMs: number): Promise<readonly [GatewayProcess, GatewayProcess]> {
  place = await postgresPlace()
  upstream = await startUpstream({ delayMs })
  const config = { upstreams: [{ name: 'scripted', url: upstream.url }] }
  const gateways = [0, 1].map(() => startGatewayProcess({ store: place.store, config })) as [
    GatewayProcess,
    GatewayProcess,
  ]
  for (const gateway of gateways) await gateway.listening
  return gateways
}

const ask = (gateway: GatewayProcess, text: string, headers: Record<string, string>) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: text }] }),
  })

/** What the upstream was asked so often. */
const asked = (text: string) =>
  upstream.requests.filter((request) => JSON.stringify(request).includes(`"${text}"`)).length

it('of requests that reach two gateways at the same moment, one is asked of the upstream', async () => {
  const gateways = await two(600)
  for (let round = 0; round < 8; round += 1) {
    const text = `round-${round}`
    const headers = { 'idempotency-key': text }
    const answers = await Promise.all(gateways.map((gateway) => ask(gateway, text, headers)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    // Whoever waits as told gets the same answer, from either.
    const given = (await answers.find(({ status }) => status === 200)?.json()) as { id: string }
    for (const gateway of gateways) {
      const again = await ask(gateway, text, headers)
      expect([again.status, ((await again.json()) as { id: string }).id]).toEqual([200, given.id])
    }
    expect(asked(text)).toBe(1)
  }
})

it('what a gateway that was killed had begun is asked again, by an unmodified SDK', async () => {
  const [one, other] = await two(20_000)
  const first = ask(one, 'slow', { 'idempotency-key': 'slow' }).then(
    ({ status }) => status,
    () => 'broken',
  )
  await expect.poll(() => asked('slow')).toBe(1)
  // Long enough that the claim was renewed once.
  await delay(4_000)
  await one.kill()
  expect(await first).toBe('broken')
  upstream.set({ delayMs: 0 })
  const sdk = new OpenAI({ baseURL: `${other.url}/v1`, apiKey: 'none', maxRetries: 2 })
  const messages = [{ role: 'user' as const, content: 'slow' }]
  const refused = await ask(other, 'slow', { 'idempotency-key': 'slow' })
  expect(refused.status).toBe(409)
  expect(asked('slow')).toBe(1)
  const answer = await sdk.chat.completions.create(
    { model: 'scripted', messages },
    { headers: { 'idempotency-key': 'slow' } },
  )
  expect(answer.choices).toHaveLength(1)
  expect(asked('slow')).toBe(2)
})
