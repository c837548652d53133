import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { item } from '../../test/support/memory-items.ts'
import {
  buildMemoryArchive,
  defineAgent,
  memory,
  type MemoryArchive,
  MemoryValue,
  openMemoryArchive,
} from '../agent/index.ts'
import { type Environment, type Store, Task, VersionId } from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { pairedGate } from '../gate/index.ts'
import { caseUtility } from '../optimize/memory/index.ts'
import { Registry } from '../release/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { learn, rollouts } from './index.ts'

let root: string
let store: Store
let archive: MemoryArchive
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ratchet-archive-'))
  store = await openMemoryStore()
  await buildMemoryArchive(join(root, 'archive'), { items: past })
  archive = await openMemoryArchive(join(root, 'archive'))
})
afterEach(async () => {
  archive.close()
  await store.close()
  await rm(root, { recursive: true, force: true })
})

/** What people did before: one of the three desks is no longer right. */
const desks = { kettle: 'amber', parcel: 'birch', voucher: 'cedar' } as const
const past = [
  item('a broken kettle', { text: desks.kettle }),
  item('a lost parcel', { text: desks.parcel }),
  item('an expired voucher', { text: 'amber' }),
]
const matters = { kettle: 'a broken kettle', parcel: 'a lost parcel', voucher: 'an expired voucher' } as const

const environment: Environment = {
  name: 'office',
  open({ data }) {
    let at = ''
    return {
      opening: [],
      tools: [],
      step(action) {
        at = action.kind === 'message' ? action.content : ''
        return { messages: [], done: true }
      },
      close: () => ({ state: { right: at === data }, counts: {} }),
    }
  },
}

const tasks = (['train', 'validation', 'holdout'] as const).flatMap((split) =>
  Array.from({ length: 90 }, (_, i) => {
    const matter = (['kettle', 'parcel', 'voucher'] as const)[i % 3] ?? 'kettle'
    return Task.parse({ id: `${split}-${i}`, instruction: `I have ${matters[matter]}.`, data: desks[matter], split })
  }),
)

it('is learned with its archive, whose items are put right by copies in what is released', async () => {
  const agent = defineAgent({
    name: 'office',
    parameters: { cases: memory({ archives: [archive] }) },
    async run(task, { cases }, episode) {
      const [known] = await cases.find(task.instruction)
      // Where nothing is known, or what is known does harm, it goes anywhere.
      const desk = known?.text ?? ['amber', 'birch', 'cedar'][task.id.length % 3] ?? ''
      cases.note(desk)
      await episode.step({ kind: 'message', content: desk })
      return { stopReason: 'done', message: null }
    },
  })
  const { base, learned, decision } = await learn(agent, {
    store,
    source: rollouts(environment, tasks),
    reward: rubric({ solved: verifier(({ state }) => (JSON.stringify(state).includes('true') ? 1 : 0)) }),
    credit: leaveOneOut(),
    optimize: { cases: caseUtility({ archives: [archive] }) },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    schedule: { updates: 8, tasks: 12, validateEvery: 4 },
  })
  expect(base.success).toBeCloseTo(2 / 3, 1)
  expect(decision).toBe('promote')
  expect(learned?.success).toBeGreaterThan(0.9)
  const { release: serving } = await new Registry(store).current('office')
  const version = await store.versions.get(VersionId.parse(serving.versions['cases']))
  const { value } = z.object({ value: MemoryValue }).parse(version?.value)
  expect(value.archives).toEqual([archive.id])
  expect(value.items.find(({ id }) => id === past[2]?.id)).toMatchObject({ text: 'amber' })
})
