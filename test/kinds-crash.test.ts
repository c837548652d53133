import { expect, it } from 'vitest'
import { openMemoryStore } from '../src/store/index.ts'
import { crashingStore } from './support/crashing-store.ts'
import { remainsOf, runTwoLearners } from './support/two-learners.ts'

it('a run with two learners of two kinds comes to the same at whatever write its process died', async () => {
  const store = await openMemoryStore()
  const died: number[] = []
  await runTwoLearners(store)
  const expected = await remainsOf(store)
  for (let n = 1; ; n++) {
    const other = await openMemoryStore()
    const dying = crashingStore(other, n, n % 2 === 0 ? 'before' : 'after')
    await runTwoLearners(dying.store).catch(() => {})
    if (!dying.crashed()) break
    died.push(n)
    const [begun] = await other.runs.list({ limit: 1 })
    if (begun?.status !== 'completed') await runTwoLearners(other, begun ? { resume: begun.id } : {})
    expect(await remainsOf(other), `died at write ${n}`).toEqual(expected)
    await other.close()
  }
  expect(died.length).toBeGreaterThan(30)
})
