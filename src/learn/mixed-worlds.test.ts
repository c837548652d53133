import { afterEach, beforeEach, expect, it } from 'vitest'
import { reader, readerTasks } from '../../test/support/reader.ts'
import { practisedModel } from '../../test/support/practised-model.ts'
import { answeredRight, wordEnvironment } from '../../test/support/word-environment.ts'
import type { Action, Environment, Store } from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { call, mixed, type Policy, play } from '../environment/index.ts'
import { pairedGate } from '../gate/index.ts'
import { policyGradient } from '../optimize/weights/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import type { LearnEvent } from './events.ts'
import { learn, rollouts } from './index.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const oldNames: Readonly<Record<string, string>> = { peek: 'look', tell: 'answer' }
/** The same work behind other tools. */
const peeking: Environment = {
  name: 'peek',
  async open(task, seed) {
    const episode = await wordEnvironment.open(task, seed)
    const renamed = (action: Action): Action =>
      action.kind === 'calls'
        ? { ...action, calls: action.calls.map((one) => ({ ...one, name: oldNames[one.name] ?? 'none' })) }
        : action
    return {
      opening: episode.opening,
      tools: Object.keys(oldNames).map((name) => ({ name, description: '', parameters: {} })),
      step: (action) => episode.step(renamed(action)),
      close: () => episode.close(),
    }
  },
}

const said =
  (look: string, answer: string): Policy =>
  async (episode) => {
    const word = /the word is (\S+)/.exec(await call(episode, look, {}))?.[1] ?? ''
    await call(episode, answer, { word })
  }

const tasks = readerTasks.map((task) => ({ ...task, family: 'ask' }))
const both = mixed({ word: { environment: wordEnvironment, tasks }, peek: { environment: peeking, tasks } })
const expert = both.policy({ word: said('look', 'answer'), peek: said('peek', 'tell') })
const check = both.check({ word: answeredRight, peek: answeredRight })

it('one Parameter of weights learns in several worlds, each measured by itself', async () => {
  const shown = both.tasks.filter(({ split, id }) => split === 'train' && /-[0-3]$/.test(id))
  const demonstrations = await Promise.all(shown.map((task) => play(both.environment, expert, task, check)))
  const events: LearnEvent[] = []
  const run = await learn(reader, {
    model: practisedModel().service,
    store,
    source: rollouts(both.environment, both.tasks),
    prime: { demonstrations },
    reward: rubric({ solved: verifier(check) }),
    credit: leaveOneOut(),
    optimize: { model: policyGradient() },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    schedule: { primePasses: 1, updates: 5, tasks: 12, averaging: 0, patience: null, explorationTasks: 0 },
    onEvent: (event) => events.push(event),
  })
  expect(demonstrations.map(({ success }) => success)).toEqual(shown.map(() => true))
  expect(events.filter(({ type }) => type === 'found')).toEqual([])
  const rates = events.flatMap((event) =>
    event.type === 'evaluated' && event.split === 'holdout' && event.arm === 'learned'
      ? [[event.tier, event.rate.n, event.rate.success]]
      : [],
  )
  // The model of this test knows the tools of one world only: the rates of both are told apart.
  expect(rates).toEqual([
    ['word', 60, 1],
    ['peek', 60, 0],
  ])
  expect(run.learned).toMatchObject({ n: 120, success: 0.5 })
  const families = events.findLast((event) => event.type === 'families')
  expect(families?.type === 'families' && families.families.map(({ family }) => family).toSorted()).toEqual([
    'peek/ask',
    'word/ask',
  ])
  const records = await store.trajectories.list({ run: run.runId, limit: 10_000 })
  const worlds = new Set(records.map(({ trajectory }) => trajectory.task.tier))
  expect(worlds).toEqual(new Set(['word', 'peek']))
})
