import { afterEach, beforeEach, expect, it } from 'vitest'
import { changedEnvironment } from '../../../../test/support/changed-environment.ts'
import { runReader } from '../../../../test/support/reader.ts'
import { answeredRight, wordEnvironment } from '../../../../test/support/word-environment.ts'
import type { Environment, Episode, Message, Store } from '../../../core/index.ts'
import { perToolCall, rubric, verifier } from '../../../reward/index.ts'
import { openMemoryStore } from '../../../store/index.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const call = (name: string, given: Record<string, string> = {}): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name, arguments: given }],
})
const refused: Message = { role: 'tool', name: 'look', content: 'busy', isError: true }

/** Refuses to look twice in each episode. */
const busy = (): Environment => {
  const refusals = new WeakMap<Episode, number>()
  return changedEnvironment(wordEnvironment, {
    step(episode, action) {
      const before = refusals.get(episode) ?? 0
      if (action.kind !== 'calls' || action.calls[0]?.name !== 'look' || before === 2) return episode.step(action)
      refusals.set(episode, before + 1)
      return { messages: [refused], done: false }
    },
  })
}
const patient = {
  messages: [
    { role: 'user', content: 'What is the word of train-0?' },
    call('look'),
    refused,
    call('look'),
    refused,
    call('look'),
    { role: 'tool', name: 'look', content: 'the word is secret0' },
    call('answer', { word: 'secret0' }),
  ] satisfies Message[],
}
const prime = { demonstrations: [patient] }
const model = { imitation: 5, imitated: 10 }
const schedule = { updates: 1, validationTasks: 6, holdoutTasks: 6 }

const unmarked = patient.messages.map((one): Message => {
  if (one.role !== 'tool') return one
  const { isError: _, ...said } = one
  return said
})

it.each([
  ['say that they were refused', patient.messages],
  ['do not say so', unmarked],
])('an attempt may make as many refused calls as demonstrations that %s', async (_, messages) => {
  const prime = { demonstrations: [{ messages }] }
  const { summary } = await runReader(store, { environment: busy(), prime, model, schedule })
  expect(summary.learned.success).toBeGreaterThan(0.5)
})

it('no more of them than somebody says, and a check says that demonstrations make more', async () => {
  const running = runReader(store, { environment: busy(), prime, model, schedule, budget: { toolErrors: 2 } })
  await expect(running).rejects.toMatchObject({ code: 'learn/refused-calls' })
})

it('where every call costs, an attempt succeeds by what demonstrations earn', async () => {
  const reward = rubric({ solved: verifier((final) => answeredRight(final)), calls: perToolCall(-0.02) })
  const demonstrations = [{ messages: [patient.messages[0]!, ...patient.messages.slice(-3)] }]
  const { of, summary } = await runReader(store, { reward, prime: { demonstrations }, model, schedule })
  expect(of('found').map(({ code }) => code)).toContain('learn/success-threshold')
  expect(summary.learned.success).toBeGreaterThan(0.5)
})

it.each([0, -1, 2, Number.NaN])('refuses %d as the reward of a success', async (successThreshold) => {
  await expect(runReader(store, { successThreshold })).rejects.toMatchObject({ code: 'learn/useless-threshold' })
})
