import { expect, it } from 'vitest'
import { openMemoryStore } from '../src/store/index.ts'
import { dieAnywhere } from './support/die-anywhere.ts'
import { remainsOf, runTwoLearners } from './support/two-learners.ts'

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
