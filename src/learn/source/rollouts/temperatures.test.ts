import { afterEach, beforeEach, expect, it } from 'vitest'
import { runReader } from '../../../../test/support/reader.ts'
import type { ModelService, Store } from '../../../core/index.ts'
import { openMemoryStore } from '../../../store/index.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** A model, and the temperatures that it was asked for. @param temperatures as its sampler tells: no behind a Tinker server. */
function model(temperatures: boolean) {
  const asked = new Set<number>()
  const service = ({ sampler, ...rest }: ModelService): ModelService => ({
    ...rest,
    sampler: {
      ...sampler,
      capabilities: { ...sampler.capabilities, temperatures },
      sample(request) {
        asked.add(request.params.temperature ?? 1)
        return sampler.sample(request)
      },
    },
  })
  return { asked, service }
}

// Nothing succeeds, so tasks are explored.
const stuck = { practice: () => 0, imitation: 0 }
const schedule = { updates: 2, explorationTasks: 4, primePasses: 0 }

it('a model that draws at temperature 1 alone is sampled at 1, and greedily', async () => {
  const { asked, service } = model(false)
  const { of } = await runReader(store, { service, schedule, model: stuck })
  expect(asked).toEqual(new Set([0, 1]))
  expect(of('started')[0]?.chosen).toMatchObject({ temperature: 1 })
})

it('another is sampled as the recipe says', async () => {
  const { asked, service } = model(true)
  const { of } = await runReader(store, { service, schedule, model: stuck })
  expect(asked, 'greedily, in practice, while exploring, and before it starts').toEqual(new Set([0, 0.7, 1, 1.2]))
  expect(of('started')[0]?.chosen).toMatchObject({ temperature: 0.7 })
})

it.each(['temperature', 'explorationTemperature'])('schedule.%s of another value is refused', async (name) => {
  const run = runReader(store, { service: model(false).service, schedule: { ...schedule, [name]: 0.9 } })
  await expect(run).rejects.toMatchObject({
    code: 'learn/sampler-lacks',
    message: `schedule.${name} is 0.9, and "words" is sampled from at temperature 1 alone.`,
  })
  expect(await store.runs.list({ limit: 1 })).toEqual([])
})
