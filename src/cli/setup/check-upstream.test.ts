import { afterEach, expect, it } from 'vitest'
import { type Fault, openTinkerServer } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import { UpstreamConfig } from '../../gateway/index.ts'
import { checkUpstream } from './check-upstream.ts'

const folder = tinyTokenizerFolder()
const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function check(fault: Fault | undefined, timeoutMs?: number) {
  const server = await openTinkerServer(() => fault)
  opened.push(server)
  const place = { name: 'there', url: 'tinker', server: { url: server.url, folder }, model: 'tiny' }
  return checkUpstream(UpstreamConfig.parse(place), {}, timeoutMs)
}

it('finds that a Tinker server answers', async () => {
  expect(await check(undefined)).toMatchObject({
    check: 'upstream there',
    status: 'ok',
    says: 'It answers, and has tiny.',
  })
})

it.each<[string, Fault, string]>([
  ['holds requests back for ever', { kind: 'status', status: 429, body: { detail: 'no room' } }, 'no room'],
  ['holds back what it would do later', { kind: 'status', status: 429, headers: { 'retry-after': '3600' } }, 'held'],
  ['is down', { kind: 'unheard' }, 'did not answer'],
])('says in good time that a Tinker server %s', async (_, fault, says) => {
  const finding = await check(fault, 300)
  expect(finding).toMatchObject({ status: 'failure', says: expect.stringContaining(says) as string })
  expect(finding.hint).not.toContain('report')
})

it('says that a Tinker server refuses the key', async () => {
  const finding = await check({ kind: 'status', status: 401 })
  expect(finding).toMatchObject({ status: 'failure', says: expect.stringContaining('401') as string })
})
