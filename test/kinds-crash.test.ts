import { expect, it } from 'vitest'
import type { Store } from '../src/core/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import { dieAnywhere } from './support/die-anywhere.ts'
import { runSkilled } from './support/skilled-run.ts'
import { remainsOf, runTwoLearners } from './support/two-learners.ts'
import { remainsOfTeam, runTeam } from './support/two-weights.ts'

/** Every write is one to die at; without `RATCHET_EVIDENCE=1` every third of them is tried. */
const every = process.env.RATCHET_EVIDENCE === '1' ? 1 : 3

it('a run with two learners of two kinds comes to the same at whatever write its process died', async () => {
  const store = await openMemoryStore()
  await runTwoLearners(store)
  const expected = await remainsOf(store)
  const died = await dieAnywhere({
    first: 1,
    every,
    run: (at, resume) => runTwoLearners(at, resume ? { resume } : {}),
    check: async (at, n) => expect(await remainsOf(at), `died at write ${n}`).toEqual(expected),
  })
  expect(died).toBeGreaterThan(30 / every)
})

it('a run with two learners of the kind weights comes to the same at whatever write its process died', async () => {
  const store = await openMemoryStore()
  await runTeam(store)
  const expected = await remainsOfTeam(store)
  expect(expected).toMatchObject({ status: 'completed', learned: { planner: {}, reader: { passes: 1 } } })
  const died = await dieAnywhere({
    first: 1,
    every,
    run: (at, resume) => runTeam(at, resume ? { resume } : {}),
    check: async (at, n) => expect(await remainsOfTeam(at), `died at write ${n}`).toEqual(expected),
  })
  expect(died).toBeGreaterThan(30 / every)
})

/** What a run learned of skills, but for what is of one run alone: its times, and ids of its trajectories. */
async function learnedIn(at: Store) {
  const { proposed, status } = await remainsOf(at)
  const text = JSON.stringify(proposed)
    .replaceAll(/"(?:from|expires)":\d+/g, '')
    .replaceAll(/run-\d+-\w+\//g, '')
  return { status, proposed: text }
}

it('a run that learns skills comes to the same, counters too, at whatever write its process died', async () => {
  const store = await openMemoryStore()
  await runSkilled(store)
  const expected = await learnedIn(store)
  expect(expected.proposed).toMatch(/"madeBy":"learned"/)
  expect(expected.proposed, 'episodes were counted').toMatch(/"offered":\{"count":[1-9]/)
  const died = await dieAnywhere({
    first: 1,
    every,
    run: (at, resume) => runSkilled(at, resume ? { resume } : {}),
    check: async (at, n) => expect(await learnedIn(at), `died at write ${n}`).toEqual(expected),
  })
  expect(died).toBeGreaterThan(20 / every)
})
