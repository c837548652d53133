import { expect, it } from 'vitest'
import { UpstreamConfig } from '../../gateway/index.ts'
import { openUpstream } from './open-upstream.ts'

const none = () => Promise.reject(new Error('there are no adapters'))
const open = (...configs: object[]) =>
  openUpstream(
    configs.map((config) => UpstreamConfig.parse({ name: 'house', url: 'http://127.0.0.1:9/v1', ...config })),
    {},
    none,
  )

it('serves adapters where it is told how', async () => {
  const plain = await open({})
  const vllm = await open({ name: 'a' }, { name: 'b', adapters: 'vllm', adapterFolder: '/srv/adapters' })
  expect([plain.servesAdapters, vllm.servesAdapters]).toEqual([false, true])
  await plain.close()
  await vllm.close()
})

it('says what is missing: a key, a folder for adapters', async () => {
  await expect(open({ adapters: 'vllm' })).rejects.toMatchObject({ code: 'input/no-adapter-folder' })
  await expect(open({ keyEnv: 'HOUSE_KEY' })).rejects.toMatchObject({ code: 'input/missing-upstream-key' })
})
