import { expect, it } from 'vitest'
import { scriptedModel } from '../../test/support/scripted-model.ts'
import { ChoiceValue, context, defineAgent, keepPolicy, user, weights } from '../agent/index.ts'
import { type Environment, type ModelService, rng, type Store, Task, VersionId } from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { pairedGate } from '../gate/index.ts'
import { thompson } from '../optimize/choice/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { learn } from './learn.ts'
import { rollouts } from './source.ts'

const sorts = ['mail', 'chat', 'board', 'notes', 'files', 'wiki']

/** Six pages, one of each tool, in any order. Only then is asked for the code that stood in the wiki. */
const taskOf = (split: Task['split']) => (i: number) =>
  Task.parse({
    id: `${split}-${i}`,
    instruction: `Job ${i}: read all.`,
    data: rng(split, i).shuffle(sorts),
    split,
  })
const tasks = (['train', 'validation', 'holdout'] as const).flatMap((split) =>
  Array.from({ length: 40 }, (_, i) => taskOf(split)(i)),
)

const environment: Environment = {
  name: 'sorts',
  open({ data, id }) {
    const order = data as readonly string[]
    const code = `c${rng('code', id).int(9_000)}`
    const words = Array.from({ length: 20 }, (_, i) => `w${i}`).join(' ')
    let [at, answered] = [0, '']
    return {
      opening: [user(`Next: ${order[0]}`)],
      tools: sorts.map((name) => ({ name, description: '', parameters: {} })),
      step(action) {
        if (action.kind === 'message') {
          answered = action.content
          return { messages: [], done: true }
        }
        const sort = order[at++] ?? ''
        const body = `${words} ${sort === 'wiki' ? `the code is ${code}` : 'no code here'} ${words}`
        const next = order[at]
        return {
          messages: [
            { role: 'tool', name: sort, content: next === undefined ? body : `${body} Next: ${next}` },
            ...(next === undefined ? [user('Question: what was the code?')] : []),
          ],
          done: false,
        }
      },
      close: () => ({ state: { right: answered === code }, counts: {} }),
    }
  },
}

/** Sees nothing but its prompt: it goes on to the next page, and says the code where that stands there. */
const { sampler, renderer } = scriptedModel((prompt) => {
  if (prompt.includes('Question:')) return [/the code is (c\d+)/.exec(prompt)?.[1] ?? 'unknown']
  return [`!${/.*Next: (\w+)/s.exec(prompt)?.[1]} {}`]
})
const none = () => Promise.reject(new Error('a script learns nothing'))
const service: ModelService = {
  base: 'words',
  baseHash: 'words',
  sampler,
  renderer,
  trainer: none,
  loadAdapter: none,
  close: async () => {},
}

const reader = defineAgent({
  name: 'reader',
  parameters: { model: weights({ base: 'words', rank: 4 }), keep: keepPolicy({ explore: 0.1 }) },
  run: (task, { model, keep }, episode) =>
    model.act([user(task.instruction), ...episode.opening], episode, {
      // All takes some 600 tokens.
      context: context({ budget: 400, low: 0.9, keepTurns: 1, excerpt: 16, readBack: false, keep }),
    }),
})

async function learned(store: Store) {
  const {
    base,
    learned: after,
    decision,
    releaseId,
  } = await learn(reader, {
    model: service,
    store,
    source: rollouts(environment, tasks),
    reward: rubric({ solved: verifier(({ state }) => ((state as { right: boolean }).right ? 1 : 0)) }),
    credit: leaveOneOut(),
    optimize: { keep: thompson() },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    schedule: { updates: 4, tasks: 6, attempts: 4, validateEvery: 4, holdoutTasks: 30, patience: null, target: null },
    deterministic: true,
    check: false,
    seed: 3,
  })
  const release = releaseId === null ? null : await store.releases.get(releaseId)
  const version = release && (await store.versions.get(VersionId.parse(release.versions['keep'])))
  return { base, after, decision, value: version && 'value' in version.value ? version.value.value : null }
}

it('what to keep is learned from what episodes earn: a page that is asked for late stays', async () => {
  const store = await openMemoryStore()
  const { base, after, decision, value } = await learned(store)
  expect(decision).toBe('promote')
  expect(base.success).toBeLessThan(0.6)
  expect(after.success).toBeGreaterThan(0.7)
  expect(ChoiceValue.parse(value).options.map(({ name }) => name)).toEqual(['whole', 'excerpt', 'stub'])
  await store.close()
})
