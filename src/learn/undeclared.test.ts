import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  askedRight,
  chancesOf,
  Choice,
  desks,
  deskTasks,
  frontDesk,
  reinforce,
} from '../../test/support/choice-kind.ts'
import { initialVersions } from '../agent/index.ts'
import { mintVersion, type Store, VersionId } from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { canaryGate, pairedGate } from '../gate/index.ts'
import { Registry } from '../release/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { learn } from './learn.ts'
import type { RolloutOptions } from './options.ts'
import { canary } from './release-plan.ts'
import { rollouts } from './source.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const older = mintVersion('old', { kind: 'text', text: 'Once.' }, { parents: [], run: null })

/** A run of the front desk after a rollback to before its Parameter was declared. */
async function learned(changes: Partial<RolloutOptions> = {}) {
  const registry = new Registry(store)
  const before = await registry.initial('front-desk', [older])
  await registry.initial('front-desk', [...initialVersions(frontDesk, () => '').values()])
  await registry.rollback('front-desk', before.id)
  return learn(frontDesk, {
    store,
    source: rollouts(desks, deskTasks),
    reward: rubric({ solved: verifier((final) => askedRight(final)) }),
    credit: leaveOneOut(),
    optimize: { route: reinforce() },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    schedule: { updates: 6, tasks: 8, attempts: 4, validateEvery: 3, patience: null, target: null },
    deterministic: true,
    ...changes,
  })
}

it('what is learned of a Parameter that the serving release does not name comes to serve', async () => {
  expect(await learned()).toMatchObject({ decision: 'promote', releaseId: expect.any(String) })
  const { release } = await new Registry(store).current('front-desk')
  const version = await store.versions.get(VersionId.parse(release.versions['route']))
  const value = version && 'value' in version.value ? version.value.value : null
  expect(chancesOf(Choice.parse(value).preferences)[1]).toBeGreaterThan(0.9)
})

it('what is learned of it is tried', async () => {
  const release = canary(canaryGate({ shares: [0.1, 0.5] }))
  expect(await learned({ release })).toMatchObject({ decision: 'promote', outcome: 'canary' })
})
