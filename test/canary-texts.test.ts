import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AnsweringModel, startAnsweringModel } from './support/answering-model.ts'
import { type ServingRatchet, serveRatchet } from './support/serving-ratchet.ts'
import { ratchet } from './tiny/ratchet.ts'

let folder: string
let model: AnsweringModel
let gateway: ServingRatchet | undefined
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-texts-'))
  // A model elsewhere, which answers as its system prompt tells it.
  model = await startAnsweringModel((messages) =>
    messages.some(({ role, content }) => role === 'system' && content.includes('one word'))
      ? 'Oslo.'
      : 'That is a very good question, and there is much to be said about it.',
  )
})
afterAll(async () => {
  await gateway?.stop()
  model.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Visitors who like a short answer, and say so. Gives how many got one. */
async function visits(url: string, from: number, count: number): Promise<number> {
  let short = 0
  for (let visit = from; visit < from + count; visit++) {
    const headers = { 'content-type': 'application/json', 'ratchet-agent': 'guide', 'ratchet-subject': `v-${visit}` }
    const answer = await fetch(`${url}/s/visit-${visit}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: `Where is order ${visit}?` }] }),
    })
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    const liked = text.includes('Oslo')
    if (liked) short++
    await fetch(`${url}/ratchet/signals`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ session: `visit-${visit}`, name: 'thumbs', value: liked }),
    })
  }
  return short
}

it('a prompt is tried, judged and promoted before a model of any upstream, with nothing that trains', async () => {
  const config = join(folder, 'ratchet.json')
  const store = join(folder, 'store')
  writeFileSync(
    config,
    JSON.stringify({
      upstreams: [{ name: 'elsewhere', url: model.url, tellsTokens: 'no' }],
      agents: [
        {
          name: 'guide',
          model: 'm',
          system: 'You guide people.',
          learn: {
            trainer: 'none',
            mode: 'canary',
            watchEvery: '1s',
            judgeAfter: '1s',
            canary: { shares: [0.5, 1], guards: false, promote: 'behaviour-only' },
          },
        },
      ],
    }),
  )
  gateway = await serveRatchet(['--config', config, '--store', store])
  const { url } = gateway
  expect(await visits(url, 0, 4)).toBe(0)

  writeFileSync(join(folder, 'prompt.txt'), 'You guide people. Answer in one word.')
  const tried = await ratchet(['try', '--system', join(folder, 'prompt.txt'), '--store', store])
  expect(tried.stderr).toBe('')
  expect(tried.code).toBe(0)

  // A promotion needs 50 sessions of the candidate: of 120 it would have fewer in one run of forty.
  const candidate = await visits(url, 100, 160)
  expect(candidate).toBeGreaterThan(45)
  expect(candidate).toBeLessThan(115)
  await expect
    .poll(async () => (await ratchet(['promote', '--store', store])).code, {
      timeout: 60_000,
      interval: 2000,
    })
    .toBe(0)
  expect(await visits(url, 300, 4)).toBe(4)
  const canaries = await ratchet(['canaries', '--store', store])
  expect(canaries.stdout).toContain('promoted')

  const learning = await ratchet(['learn', '--agent', 'guide', '--config', config, '--store', join(folder, 'other')])
  expect(learning.code).toBe(1)
  expect(learning.stderr).toContain('[input/not-trainable]')
})
