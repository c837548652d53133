import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { initialVersion, likedSessions, runTraffic } from '../../test/support/learner-traffic.ts'
import { reader, readerTasks, runReader } from '../../test/support/reader.ts'
import { answeredRight, wordEnvironment } from '../../test/support/word-environment.ts'
import type { Store } from '../core/index.ts'
import { canaryGate, pairedGate } from '../gate/index.ts'
import { Registry } from '../release/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { canary, direct, shadow } from './release-plan.ts'
import { rollouts } from './source.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const generation = async () => (await new Registry(store).current('reader')).activation.generation
const rules = canaryGate({ shares: [0.1, 0.5] })

describe('what practice learned', () => {
  it('serves at once, unless the plan says otherwise', async () => {
    const { summary } = await runReader(store)
    expect(summary.releaseId).not.toBeNull()
    expect(summary).not.toHaveProperty('canary')
    expect(await generation()).toBe(2)
  })

  it('is tried by a share of the sessions, on the receipt of the held-out tasks', async () => {
    const { summary, of } = await runReader(store, { release: canary(rules) })
    expect(summary).toMatchObject({ decision: 'promote', releaseId: null })
    const [tried] = of('tried')
    expect(tried).toMatchObject({ canary: summary.canary, share: 0.1 })
    const begun = (await store.canaries.get(summary.canary!))!
    const run = (await store.runs.get(summary.runId))!
    expect(begun).toMatchObject({ status: 'running', run: run.id, admission: run.receipt })
    expect(await generation()).toBe(1)
  })

  it('is kept, and nobody gets it', async () => {
    const { summary } = await runReader(store, { release: shadow() })
    expect(summary).toMatchObject({ decision: 'promote', releaseId: null })
    const { versionsOut } = (await store.runs.get(summary.runId))!
    expect(await store.versions.get(versionsOut!['model']!)).not.toBeNull()
    expect(await generation()).toBe(1)
  })
})

describe('what was learned from traffic', () => {
  it('serves at once where the plan says so and held-out tasks speak for it', async () => {
    const now = 3_600_000
    await likedSessions(store, { now, prefix: 's', count: 4 })
    const { environment, holdout } = rollouts(wordEnvironment, readerTasks)
    const reward = rubric({ solved: verifier((final) => answeredRight(final)) })
    const { summary, story } = await runTraffic(store, now, {
      from: { evaluation: { environment, holdout, agent: reader, reward } },
      gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
      release: direct(),
      model: { practice: () => 5 },
    })
    expect(summary).toMatchObject({ outcome: 'released', decision: 'promote', canary: null })
    expect(story).toMatch(/gated released finished$/)
    const { release } = await new Registry(store).current('reader')
    expect(release.versions['model']).toBe(summary.candidate)
    expect(release.versions['model']).not.toBe(initialVersion.id)
  })
})
