import { beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../src/core/index.ts'
import { pairedGate } from '../src/gate/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import { crashingStore } from './support/crashing-store.ts'
import { type ReaderChanges, readerTasks, runReader } from './support/reader.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})

describe('a process that dies', () => {
  const small: ReaderChanges = {
    deterministic: true,
    schedule: {
      primePasses: 1,
      updates: 2,
      tasks: 2,
      attempts: 2,
      validateEvery: 1,
      validationTasks: 3,
      holdoutTasks: 16,
    },
    // So few tasks show little: the agent's first candidate is tested at the highest level that there is.
    gate: pairedGate({ margin: 0, alpha: 0.25, lifetime: { alpha: 0.25 } }),
    model: { practice: () => 5 },
  }

  /** What does not hang on when and in which process it happened. */
  async function remains() {
    const { id, versionsOut, status } = (await store.runs.list({ limit: 1 }))[0]!
    const events = await store.runs.events(id)
    const finished = events.at(-1)?.data['summary'] as Record<string, unknown>
    const { runId: _, releaseId, seconds: __, ...figures } = finished
    const holdout = readerTasks.flatMap(({ id, split }) => (split === 'holdout' ? [id] : [])).slice(0, 16)
    return {
      status,
      versionsOut,
      figures,
      released: releaseId !== null,
      story: events.flatMap(({ type }) => (['started', 'agreed'].includes(type) ? [] : [type])),
      sequences: events.map(({ sequence }) => sequence),
      uses: (await store.ledger.uses(holdout)).length,
      episodes: await store.trajectories.count({ run: id }),
      activations: (await store.releases.activations('reader')).map(({ reason }) => reason),
    }
  }

  it('at any write, just before or just after it, changes nothing of what a resumed run comes to', async () => {
    await runReader(store, small)
    const { sequences: _, ...expected } = await remains()
    expect(expected).toMatchObject({
      status: 'completed',
      uses: 1,
      released: true,
      activations: ['initial', 'promote'],
    })
    let deaths = 0
    for (const moment of ['before', 'after'] as const) {
      for (let n = 1; ; n++) {
        store = await openMemoryStore()
        const dying = crashingStore(store, n, moment)
        const survived = await runReader(dying.store, small).then(
          () => true,
          () => false,
        )
        if (!dying.crashed()) break
        deaths++
        const [begun] = await store.runs.list({ limit: 1 })
        if (!survived || begun?.status !== 'completed')
          await runReader(store, { ...small, ...(begun ? { resume: begun.id } : {}) })
        const { sequences, ...rest } = await remains()
        expect(rest, `died ${moment} write ${n}`).toEqual(expected)
        expect(sequences).toEqual(sequences.map((_, i) => i))
        await store.close()
      }
    }
    expect(deaths).toBeGreaterThan(60)
  })
})
