import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AnsweringModel, type AskedMessage, startAnsweringModel } from './support/answering-model.ts'
import { type ServingRatchet, serveRatchet } from './support/serving-ratchet.ts'
import { ratchet } from './tiny/ratchet.ts'

const desks = ['amber', 'birch', 'cedar', 'dogwood']
const matters = [
  'a broken kettle',
  'a lost parcel',
  'an expired voucher',
  'a locked account',
  'a late ferry',
  'a torn coat',
]
const rightDesk = (matter: string) => desks[matters.indexOf(matter) % desks.length] ?? ''

/** One after the other by no rule that visits follow (mulberry32's step). */
let state = 1
function anyDesk(): string {
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5
  return desks[(state >>> 16) % desks.length] ?? ''
}

let folder: string
let model: AnsweringModel
let gateway: ServingRatchet | undefined
let prompts: (readonly AskedMessage[])[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-memory-'))
  // A model elsewhere, which does as the first note of what worked says, and else names any desk.
  model = await startAnsweringModel((messages) => {
    prompts.push(messages)
    const notes = messages.find(({ name }) => name === 'ratchet-memory')?.content ?? ''
    return /Done \(it worked\): (\w+)/.exec(notes)?.[1] ?? anyDesk()
  })
})
afterAll(async () => {
  await gateway?.stop()
  model.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Visitors who say whether they were sent to the right desk. Gives how many were. */
async function visits(url: string, from: number, count: number): Promise<number> {
  let right = 0
  for (let visit = from; visit < from + count; visit++) {
    const matter = matters[visit % matters.length] ?? ''
    const headers = { 'content-type': 'application/json', 'ratchet-agent': 'guide' }
    const messages = [
      { role: 'system', content: 'You send visitors to a desk.' },
      { role: 'user', content: `Number ${visit}: I have ${matter}. Where do I go?` },
    ]
    const answer = await fetch(`${url}/s/visit-${visit}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'm', messages }),
    })
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    const { choices } = JSON.parse(text) as { readonly choices: readonly { readonly message: AskedMessage }[] }
    const isRight = choices[0]?.message.content === rightDesk(matter)
    if (isRight) right++
    await fetch(`${url}/ratchet/signals`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ session: `visit-${visit}`, name: 'thumbs', value: isRight }),
    })
  }
  return right
}

it('an agent behind the gateway remembers what worked, before a model of any upstream, by a line of configuration', async () => {
  const config = join(folder, 'ratchet.json')
  const store = join(folder, 'store')
  const learn = {
    trainer: 'none',
    mode: 'canary',
    every: '1s',
    minEpisodes: 100,
    settle: '1s',
    watchEvery: '1s',
    judgeAfter: '1s',
    reporters: { share: 1 },
    canary: { shares: [0.5, 1], guards: false, promote: 'behaviour-only', assign: 'session' },
  }
  writeFileSync(
    config,
    JSON.stringify({
      upstreams: [{ name: 'elsewhere', url: model.url, tellsTokens: 'no' }],
      agents: [{ name: 'guide', model: 'm', memory: {}, learn }],
    }),
  )
  gateway = await serveRatchet(['--config', config, '--store', store])
  const { url } = gateway
  expect(await visits(url, 0, 120)).toBeLessThan(60)

  await expect
    .poll(async () => (await ratchet(['canaries', '--store', store])).stdout, { timeout: 90_000, interval: 2_000 })
    .toContain('running')
  prompts = []
  expect(await visits(url, 1_000, 160)).toBeGreaterThan(60)
  const recalled = prompts.filter((prompt) => prompt.some(({ name }) => name === 'ratchet-memory'))
  expect(recalled.length).toBeGreaterThan(45)
  for (const [first, second, third] of recalled) {
    expect([first?.role, second?.name, third?.role]).toEqual(['system', 'ratchet-memory', 'user'])
  }
  await expect
    .poll(async () => (await ratchet(['promote', '--store', store])).code, { timeout: 60_000, interval: 2_000 })
    .toBe(0)
  expect(await visits(url, 3_000, 30)).toBeGreaterThan(20)
})
