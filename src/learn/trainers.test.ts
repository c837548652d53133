import { expect, it } from 'vitest'
import { practisedModel, type PractisedModelOptions } from '../../test/support/practised-model.ts'
import { reader, readerTasks, runReader } from '../../test/support/reader.ts'
import { answeredRight, wordEnvironment } from '../../test/support/word-environment.ts'
import { leaveOneOut } from '../credit/index.ts'
import { pairedGate } from '../gate/index.ts'
import { policyGradient } from '../optimize/weights/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { learn } from './learn.ts'
import { rollouts } from './source.ts'

it('a run with a control closes both trainers', async () => {
  const store = await openMemoryStore()
  const { practised } = await runReader(store, { control: true, schedule: { updates: 1 } })
  expect(practised.trainers.size).toBe(0)
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
