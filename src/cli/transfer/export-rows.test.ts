import { expect, it } from 'vitest'
import { type RecordedTrajectory, Signal, Trajectory, type TrajectoryId } from '../../core/index.ts'
import { type Exporting, exportRows, type ExportOptions } from './export-rows.ts'

function recorded(id: string, group = id, value = 1): RecordedTrajectory {
  const message = (role: string, content: string) => ({ message: { role, content }, spans: [] })
  const trajectory = Trajectory.parse({
    id,
    task: { id: group, instruction: 'Why?', split: 'train' },
    group,
    attempt: 0,
    seed: 0,
    nodes: [
      { id: 'q', parent: null, ...message('user', 'Why?') },
      { id: 'a', parent: 'q', ...message('assistant', `Because of ${id}.`) },
    ],
    steps: [{ index: 0, action: 'a', observations: [], decisions: [] }],
    decisions: [],
    stopReason: 'done',
    failure: null,
    finalState: null,
    startedAt: 0,
    seconds: 1,
  })
  return { trajectory, reward: { status: 'scored', value, parts: {} }, run: null }
}

const edit = (id: string, text: string) =>
  Signal.parse({ key: id, trajectory: id, node: 'a', source: 'user', name: 'e', value: { kind: 'edit', text }, at: 1 })

/** Pages as a store gives them, from which some were removed while they were read. */
function storeOf(pages: readonly (readonly RecordedTrajectory[])[], edited: readonly string[] = []): Exporting {
  return {
    trajectories: {
      list: ({ after }) => {
        const last = pages.findIndex((page) => page.some(({ trajectory }) => trajectory.id === after))
        return Promise.resolve(pages[last + 1] ?? [])
      },
    },
    signals: { of: (id) => Promise.resolve(edited.includes(id) ? [edit(id, `Not of ${id}.`)] : []) },
  }
}

const options: ExportOptions = { format: 'grpo', least: 0, margin: 0.1 }

async function rowsOf(store: Exporting, change: Partial<ExportOptions> = {}) {
  const rows: { trajectory: TrajectoryId }[] = []
  await exportRows(store, {}, { ...options, ...change }, (row) => {
    rows.push(row as { trajectory: TrajectoryId })
    return Promise.resolve()
  })
  return rows.map(({ trajectory }) => trajectory)
}

it('an export goes on after pages of which some was removed meanwhile', async () => {
  expect(await rowsOf(storeOf([[recorded('a')], [recorded('b'), recorded('c')], [recorded('d')]]))).toEqual([
    'a',
    'b',
    'c',
    'd',
  ])
})

it('what is better than what is told at once where no other attempt can compete', async () => {
  const store = storeOf([[recorded('a'), recorded('x', 'g', 0)], [recorded('y', 'g', 1)]], ['a'])
  let seen = 0
  const told: number[] = []
  const counting: Exporting = {
    ...store,
    trajectories: {
      list: async (filter) => {
        const page = await store.trajectories.list(filter)
        seen += page.length
        return page
      },
    },
  }
  await exportRows(counting, {}, { ...options, format: 'dpo' }, () => {
    told.push(seen)
    return Promise.resolve()
  })
  expect(told).toEqual([2, 3])
  expect(await rowsOf(store, { format: 'dpo' })).toEqual(['a', 'y'])
})
