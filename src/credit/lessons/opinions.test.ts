import { afterEach, beforeEach, expect, it } from 'vitest'
import { recordSessions, sayOf } from '../../../test/support/learner-traffic.ts'
import { scriptedModel } from '../../../test/support/scripted-model.ts'
import { type Store, TrajectoryId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { trafficRubric } from '../../reward/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { behaviourFrom, LearnFromTrafficConfig } from '../../learn/source/traffic/config.ts'
import { opinions } from './opinions.ts'

const { renderer } = scriptedModel(() => [])

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

it.each([
  ['as it is by default', {}, -0.5],
  ['not where the rubric reads none', { implicit: false }, undefined],
  ['not of a kind that is off', { implicit: { kinds: { retried: false } } }, undefined],
  ['not of a kind that is worth nothing', { implicit: { kinds: { retried: 0 } } }, undefined],
  ['of the other kinds', { implicit: { kinds: { accepted: false } } }, -0.5],
] as const)('behaviour tells what people made of an answer: %s', async (_, rubric, opinion) => {
  await recordSessions(store, renderer, [
    { id: 'a', answer: 'blue' },
    { id: 'a', answer: 'red', call: 'again', at: 2_000 },
  ])
  const { trajectory } = present(await store.trajectories.get(TrajectoryId.parse('a')), 'the session')
  const config = LearnFromTrafficConfig.parse({ rubric })
  const reading = { asOf: 10_000, rubric: trafficRubric(config.rubric), behaviour: behaviourFrom(config.rubric) }
  const retried = 'a-c-a' as never
  expect((await opinions(trajectory, [], reading)).get(retried)).toBe(opinion)
  const told = await opinions(trajectory, [sayOf('a', true, { node: retried })], reading)
  expect(told.get(retried), 'what was said counts').toBe(1)
  const weighed = await opinions(trajectory, [], { ...reading, factors: { 'implicit/retried': 0.5 } })
  expect(weighed.get(retried), 'as the labels of an audit say').toBe(opinion && opinion / 2)
})
