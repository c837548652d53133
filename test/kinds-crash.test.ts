import { expect, it } from 'vitest'
import { openMemoryStore } from '../src/store/index.ts'
import { dieAnywhere } from './support/die-anywhere.ts'
import { remainsOf, runTwoLearners } from './support/two-learners.ts'
import { remainsOfTeam, runTeam } from './support/two-weights.ts'

it('a run with two learners of two kinds comes to the same at whatever write its process died', async () => {
  const store = await openMemoryStore()
  await runTwoLearners(store)
  const expected = await remainsOf(store)
  const died = await dieAnywhere({
    first: 1,
    every: 1,
    run: (at, resume) => runTwoLearners(at, resume ? { resume } : {}),
    check: async (at, n) => expect(await remainsOf(at), `died at write ${n}`).toEqual(expected),
  })
  expect(died).toBeGreaterThan(30)
})

it('a run with two learners of the kind weights comes to the same at whatever write its process died', async () => {
  const store = await openMemoryStore()
  await runTeam(store)
  const expected = await remainsOfTeam(store)
  expect(expected).toMatchObject({ status: 'completed', learned: { planner: {}, reader: { passes: 1 } } })
  const died = await dieAnywhere({
    first: 1,
    every: 1,
    run: (at, resume) => runTeam(at, resume ? { resume } : {}),
    check: async (at, n) => expect(await remainsOfTeam(at), `died at write ${n}`).toEqual(expected),
  })
  expect(died).toBeGreaterThan(30)
})
