import { expect, it } from 'vitest'
import { openTinkerServer } from '../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../test/support/tiny-tokenizer.ts'
import { TinkerServer } from '../model/tinker/index.ts'
import { openModel, tellingOnce } from './open-model.ts'

it('what a server does is told once, until it goes on', () => {
  const said: string[] = []
  const tell = tellingOnce((line) => said.push(line))
  const paused = { type: 'paused', reason: 'capacity', detail: null, waitedMs: 0 } as const
  tell({ type: 'ignored', option: 'alpha', why: 'it is 32' })
  tell({ ...paused, request: 'a' })
  tell({ ...paused, request: 'b' })
  tell({ type: 'resumed', request: 'a', waitedMs: 2400 })
  tell({ ...paused, request: 'b' })
  tell({ type: 'retried', request: 'b', attempt: 1, why: 'fetch failed' })
  tell({ type: 'retried', request: 'b', attempt: 2, why: 'fetch failed' })
  tell({ type: 'left', what: 'a path', why: 'gone' })
  expect(said).toEqual([
    'The server does not heed alpha: it is 32',
    'The server holds requests back: capacity',
    'The server goes on, after 2 s',
    'The server holds requests back: capacity',
    'Requests are sent again: fetch failed',
  ])
})

it('a configuration says how near a server comes', async () => {
  const { url, close } = await openTinkerServer()
  const server = TinkerServer.parse({ url, folder: tinyTokenizerFolder(), agreement: 0.03 })
  const place = { model: 'tiny', renderer: 'template', precision: 'auto', server } as const
  const { service } = await openModel(place, {}, () => {})
  expect(service.sampler.capabilities.agreement).toBe(0.03)
  await service.close()
  await close()
})
