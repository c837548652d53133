import { expect, it } from 'vitest'
import { practisedModel } from '../../test/support/practised-model.ts'
import { whileLoaded, whileOpen } from './episodes.ts'

it('an adapter is unloaded after the work, and also when the work fails', async () => {
  const { service, adapters } = practisedModel()
  const publish = async () => (await service.trainer({ kind: 'full' }, 0)).publish()
  expect(await whileLoaded(service.sampler, await publish(), async ({ id }) => adapters.has(id))).toBe(true)
  const failed = whileLoaded(service.sampler, await publish(), () => Promise.reject(new Error('the store is full')))
  await expect(failed).rejects.toThrow('the store is full')
  expect(adapters.size).toBe(0)
})

it('a trainer is closed after the work, and also when the work fails', async () => {
  const { service, trainers } = practisedModel()
  const open = () => service.trainer({ kind: 'full' }, 0)
  expect(await whileOpen(await open(), async () => trainers.size)).toBe(1)
  await expect(whileOpen(await open(), () => Promise.reject(new Error('it diverged')))).rejects.toThrow('it diverged')
  expect(trainers.size).toBe(0)
})
