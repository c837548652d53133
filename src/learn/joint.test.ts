import { afterEach, beforeEach, expect, it } from 'vitest'
import { practisedModel } from '../../test/support/practised-model.ts'
import { readerTasks } from '../../test/support/reader.ts'
import { answeredRight, wordEnvironment } from '../../test/support/word-environment.ts'
import { choice, choiceKind, defineAgent, memory, text, type textKind, user, weights } from '../agent/index.ts'
import type { Message, Optimizer, Store, Trajectory, WeightsOptimizer } from '../core/index.ts'
import { pairedGate } from '../gate/index.ts'
import { thompson } from '../optimize/choice/index.ts'
import { caseUtility } from '../optimize/memory/index.ts'
import { policyGradient } from '../optimize/weights/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { learn } from './learn.ts'
import { rollouts } from './source.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** Reads a prompt that changes, notes that grow, and a choice that moves, before its weights say anything. */
const reader = defineAgent({
  name: 'reader',
  parameters: {
    model: weights({ base: 'words', rank: 4 }),
    system: text('Draft 0.'),
    notes: memory(),
    route: choice({ options: ['left', 'right'] }),
  },
  async run(task, { model, system, notes, route }, episode) {
    const recalled = await notes.recall(task.instruction)
    await route.choose()
    return model.act([system.message(), ...recalled, user(task.instruction)], episode)
  },
})

/** Writes another draft at every update. */
const redrafting: Optimizer<typeof textKind> = {
  name: 'redrafting',
  kind: 'text',
  open: async (_seat, saved) => {
    let draft = saved ? Number(saved.state) : 0
    const now = async () => ({ text: `Draft ${draft}.` })
    return {
      bound: now,
      propose: now,
      save: async () => ({ state: draft }),
      step: async () => ({ draft: ++draft }),
    }
  },
}

const shown: readonly Message[] = [
  { role: 'user', content: 'What is the word of x?' },
  { role: 'assistant', content: '', toolCalls: [{ name: 'look', arguments: {} }] },
]

const promptOf = ({ nodes }: Trajectory) => nodes.find(({ message }) => message.role === 'system')?.message.content

it('weights learn from nothing that was sampled under another prompt, memory or choice than acts at that update', async () => {
  const seen: { update: number; acted: readonly string[] }[] = []
  const plain = policyGradient()
  const watching: WeightsOptimizer = {
    ...plain,
    step(context) {
      const samples = context.gradients.flatMap(({ deposits }) => deposits)
      for (const { acted = {} } of samples) seen.push({ update: context.update, acted: Object.keys(acted).toSorted() })
      return plain.step(context)
    },
  }
  const { runId } = await learn(reader, {
    model: practisedModel().service,
    store,
    source: rollouts(wordEnvironment, readerTasks),
    prime: { demonstrations: [{ messages: shown }] },
    reward: rubric({ solved: verifier((final) => answeredRight(final)) }),
    optimize: { model: watching, system: redrafting, notes: caseUtility(), route: thompson() },
    gate: pairedGate({ margin: 0, alpha: 0.25 }),
    schedule: {
      primePasses: 2,
      updates: 3,
      tasks: 4,
      attempts: 3,
      rounds: 1,
      validateEvery: 3,
      validationTasks: 3,
      holdoutTasks: 8,
      imitation: 0,
      explorationTasks: 0,
      averaging: 0,
      patience: null,
      target: null,
    },
    deterministic: true,
  })
  expect(seen.length).toBeGreaterThan(0)
  expect(seen.every(({ acted }) => acted.join() === 'model,notes,route,system')).toBe(true)

  const records = await store.trajectories.list({ run: runId, limit: 10_000 })
  for (let update = 0; update < 3; update++) {
    const batch = records
      .map(({ trajectory }) => trajectory)
      .filter(({ id }) => id.startsWith(`${runId}/update-${update}/`))
    expect(batch).toHaveLength(12)
    for (const trajectory of batch) {
      expect(promptOf(trajectory)).toBe(`Draft ${update}.`)
      expect(new Set(trajectory.decisions.map(({ checkpoint }) => checkpoint))).toEqual(new Set([update]))
    }
  }
  const kinds = new Set(records.flatMap(({ trajectory }) => trajectory.decisions.map(({ kind }) => kind)))
  expect(kinds).toEqual(new Set(['weights', 'text', 'memory', choiceKind.kind]))
})
