import { describe, expect, it, vi } from 'vitest'
import { keptAtServer } from '../../test/support/kept-at-server.ts'
import { practisedModel, type PractisedModelOptions } from '../../test/support/practised-model.ts'
import { reader, readerTasks, runReader } from '../../test/support/reader.ts'
import { answeredRight, wordEnvironment } from '../../test/support/word-environment.ts'
import { blobKey } from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { pairedGate } from '../gate/index.ts'
import { imitate, policyGradient, protoValues, sequence } from '../optimize/weights/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { Registry } from '../release/index.ts'
import { openMemoryStore } from '../store/index.ts'
import type { LearnEvent } from './events.ts'
import { learn } from './learn.ts'
import { rollouts } from './source.ts'

it('a run with a control closes both trainers', async () => {
  const store = await openMemoryStore()
  const { practised } = await runReader(store, { control: true, schedule: { updates: 1 } })
  expect(practised.trainers.size).toBe(0)
  await store.close()
})

describe('a trainer whose server keeps what it saves', () => {
  it('learns, releases and lets go of what no checkpoint names; nothing is copied', async () => {
    const store = await openMemoryStore()
    const put = vi.spyOn(store.blobs, 'put')
    const kept = keptAtServer(practisedModel().service)
    const { summary, of } = await runReader(store, { service: () => kept.service, control: true })
    expect(summary).toMatchObject({ decision: 'promote', learned: { success: 1 } })
    expect(put).not.toHaveBeenCalled()
    const stepped = of('updated').filter(({ metrics }) => (metrics.steps ?? 0) > 0)
    expect(stepped.length).toBeGreaterThan(0)
    for (const { metrics } of stepped) expect(metrics).not.toHaveProperty('gradNorm')

    const { release } = await new Registry(store).current('reader')
    const version = (await store.versions.get(release.versions['model']!))!
    expect(version.value).toMatchObject({ adapter: { at: 'trainer', uri: expect.stringMatching(/^server:/) } })
    const checkpoint = (await store.runs.latestCheckpoint(summary.runId))!
    expect(new Set(kept.shelf.keys())).toEqual(new Set(Object.values(checkpoint.blobs).map(blobKey)))
    await store.close()
  })

  it('goes on where a run was interrupted, and back where it collapsed', async () => {
    // The step that collapses is one of update 6; at the smaller rate after a return it does not.
    const practice = (step: number, rate: number) => (step === 8 && rate > 1e-4 ? -100 : 0.4)
    const schedule = { updates: 12, tasks: 24, validateEvery: 4, informativeGroups: 0 }
    const service = () => keptAtServer(practisedModel({ practice, imitation: 3, imitated: 6 }).service).service
    const whole = await openMemoryStore()
    const expected = await runReader(whole, { service, schedule })
    expect(expected.of('recovered')).toHaveLength(1)

    const cut = await openMemoryStore()
    const stop = new AbortController()
    const once = service()
    const onEvent = ({ type }: LearnEvent) => {
      if (type === 'recovered') stop.abort(new Error('it ended'))
    }
    const interrupted = runReader(cut, { service: () => once, schedule, signal: stop.signal, onEvent })
    await expect(interrupted).rejects.toThrow('it ended')
    const [begun] = await cut.runs.list({ limit: 1 })
    const { summary } = await runReader(cut, { service: () => once, schedule, resume: begun!.id })
    expect(summary.learned).toEqual(expected.summary.learned)
    await whole.close()
    await cut.close()
  })

  it('gets no average, and is refused one that was asked for', async () => {
    const store = await openMemoryStore()
    const { service } = keptAtServer(practisedModel().service)
    const asked = runReader(store, { service: () => service, schedule: { averaging: 0.5 } })
    await expect(asked).rejects.toMatchObject({ code: 'learn/trainer-lacks' })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
    await store.close()
  })
})

it.each([
  ['practice', policyGradient({ auxiliary: protoValues() })],
  ['imitation', sequence(policyGradient(), imitate({ auxiliary: protoValues() }))],
])('a trainer without auxiliary heads is refused before a run whose %s asks for one', async (_, lessons) => {
  const store = await openMemoryStore()
  const run = learn(reader, {
    model: practisedModel().service,
    store,
    source: rollouts(wordEnvironment, readerTasks),
    reward: rubric({ solved: verifier((final) => answeredRight(final)) }),
    credit: leaveOneOut(),
    optimize: { model: lessons },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    schedule: { updates: 1, tasks: 1, attempts: 2 },
  })
  await expect(run).rejects.toMatchObject({
    code: 'learn/trainer-lacks',
    message: expect.stringContaining('an auxiliary head, for the option auxiliary') as string,
  })
  expect(await store.runs.list({ limit: 1 })).toEqual([])
  await store.close()
})

const failing = {
  onStep: () => {
    throw new Error('it ended')
  },
}

it.each<[string, PractisedModelOptions]>([
  ['a step that failed', failing],
  ['an interruption', {}],
])('a run closes its trainer after %s', async (_, options) => {
  const store = await openMemoryStore()
  const { service, trainers } = practisedModel(options)
  const stop = new AbortController()
  const seen = new Set<number>()
  const run = learn(reader, {
    model: service,
    store,
    source: rollouts(wordEnvironment, readerTasks),
    reward: rubric({ solved: verifier((final) => answeredRight(final)) }),
    credit: leaveOneOut(),
    optimize: { model: policyGradient() },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    schedule: { updates: 1, tasks: 1, attempts: 2 },
    signal: stop.signal,
    onEvent: ({ type }) => {
      seen.add(trainers.size)
      if (type === 'updated') stop.abort(new Error('it ended'))
    },
  })
  await expect(run).rejects.toThrow('it ended')
  expect(seen).toEqual(new Set([1]))
  expect(trainers.size).toBe(0)
  await store.close()
})
