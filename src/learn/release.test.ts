import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { initialVersion, likedSessions, runTraffic } from '../../test/support/learner-traffic.ts'
import { reader, readerTasks, runReader } from '../../test/support/reader.ts'
import { answeredRight, wordEnvironment } from '../../test/support/word-environment.ts'
import { mintVersion, type Store, type Version } from '../core/index.ts'
import { canaryGate, pairedGate } from '../gate/index.ts'
import { Registry } from '../release/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { LostLeaseError } from './errors.ts'
import type { LearnEvent } from './events.ts'
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
    expect(summary).toMatchObject({ decision: 'promote', releaseId: null, outcome: 'canary' })
    const [tried] = of('tried')
    expect(tried).toMatchObject({ canary: summary.canary, share: 0.1 })
    const begun = (await store.canaries.get(summary.canary!))!
    const run = (await store.runs.get(summary.runId))!
    expect(begun).toMatchObject({ status: 'running', run: run.id, admission: run.receipt })
    expect(await generation()).toBe(1)
  })

  it('is kept, and nobody gets it', async () => {
    const { summary } = await runReader(store, { release: shadow() })
    expect(summary).toMatchObject({ decision: 'promote', releaseId: null, outcome: 'shadow' })
    const { versionsOut } = (await store.runs.get(summary.runId))!
    expect(await store.versions.get(versionsOut!['model']!)).not.toBeNull()
    expect(await generation()).toBe(1)
  })
})

describe('a release for everybody', () => {
  it('is not made by a process whose place another has taken', async () => {
    let isLost = false
    const mayWrite = async () => {
      if (isLost) throw new LostLeaseError('learn:reader')
    }
    const onEvent = ({ type }: LearnEvent) => {
      isLost ||= type === 'gated'
    }
    await expect(runReader(store, { mayWrite, onEvent })).rejects.toThrow(LostLeaseError)
    expect(await generation()).toBe(1)
    const [run] = await store.runs.list({ limit: 1 })
    expect(run).toMatchObject({ status: 'running', release: null })
    expect((await runReader(store, { resume: run!.id })).summary.releaseId).not.toBeNull()
  })

  it('is superseded where something else has come to serve meanwhile', async () => {
    const pin = async () => {
      await new Registry(store).pin('reader', 'the fair')
    }
    let pinned: Promise<void> | null = null
    const mayWrite = async () => {
      await pinned
    }
    const { summary } = await runReader(store, {
      mayWrite,
      onEvent: ({ type }) => {
        if (type === 'evaluated') pinned ??= pin()
      },
    })
    expect(summary).toMatchObject({ decision: 'promote', releaseId: null, outcome: 'superseded' })
    expect(summary.reason).toContain('pinned')
    expect(await generation()).toBe(1)
  })
})

it('a run goes on with the source that it began with, and no other', async () => {
  const now = 3_600_000
  await likedSessions(store, { now, prefix: 's', count: 4 })
  const stop = new AbortController()
  const onEvent = ({ type }: LearnEvent) => type === 'gathered' && stop.abort(new Error('enough'))
  await expect(runTraffic(store, now, { onEvent, signal: stop.signal })).rejects.toThrow('enough')
  const [run] = await store.runs.list({ limit: 1 })
  await expect(runReader(store, { resume: run!.id })).rejects.toMatchObject({ code: 'learn/other-source' })
  expect(await store.runs.get(run!.id)).toEqual(run)
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

  it('is tried also where another Parameter came to serve meanwhile, in both arms', async () => {
    const now = 3_600_000
    await likedSessions(store, { now, prefix: 's', count: 4 })
    const system = mintVersion('system', { kind: 'text', text: 'Say one word.' }, { parents: [], run: null })
    let declared: Promise<unknown> | null = null
    const { summary } = await runTraffic(store, now, {
      mayWrite: async () => void (await declared),
      onEvent: ({ type }) => {
        if (type === 'practised') declared ??= new Registry(store).initial('reader', [initialVersion, system], now)
      },
    })
    expect(summary).toMatchObject({ outcome: 'canary' })
    const begun = await store.canaries.get(summary.canary!)
    expect(begun).toMatchObject({ status: 'running', candidate: { model: summary.candidate }, generation: 3 })
    expect(Object.keys(begun!.candidate)).toEqual(['model'])
  })

  it('is learned from no session that another prompt answered', async () => {
    const now = 3_600_000
    const registry = new Registry(store)
    const [old, edited] = ['Say one word.', 'Be brief.'].map((text) =>
      mintVersion('system', { kind: 'text', text }, { parents: [], run: null }),
    ) as [Version, Version]
    for (const versions of [[], [old], [edited]]) await registry.initial('reader', [initialVersion, ...versions], 1)
    await likedSessions(store, { now, prefix: 'then', count: 4, sketch: { prompt: old.id } })
    await likedSessions(store, { now, prefix: 'now', count: 4, sketch: { prompt: edited.id } })
    const { summary } = await runTraffic(store, now)
    expect(summary).toMatchObject({ learned: { seen: 8, sessions: 4, dropped: { 'other-context': 4 } } })
    expect((await registry.current('reader')).release.versions, 'older code takes nothing back').toMatchObject({
      system: edited.id,
    })
  })
})
