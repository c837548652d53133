import { describe, expect, it } from 'vitest'
import { desks, deskTasks, frontDesk, reinforce } from '../../../test/support/choice-kind.ts'
import { defineAgent, user, weights } from '../../agent/index.ts'
import type { Optimizer, WeightsOptimizer } from '../../core/index.ts'
import { rubric, verifier } from '../../reward/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { learn } from '../learn.ts'
import type { RolloutOptions } from '../options.ts'
import { rollouts } from '../source.ts'
import { whatLearns } from './parameter.ts'

const reader = defineAgent({
  name: 'reader',
  parameters: { model: weights({ base: 'words' }) },
  run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
})

describe('an optimizer is refused', () => {
  it('that learns in sessions, for weights', () => {
    const inSessions = { ...reinforce(), kind: 'weights' } as Optimizer
    const message = expect.stringContaining('sessions')
    expect(() => whatLearns(reader, { optimize: { model: inSessions } })).toThrow(
      expect.objectContaining({ code: 'learn/other-kind', message }),
    )
  })

  it('that steps a trainer, for another kind', () => {
    const stepping: Omit<WeightsOptimizer, 'kind'> = { name: 'steps', step: async () => ({ metrics: {} }) }
    const optimize = { route: { ...stepping, kind: 'choice' } as never }
    expect(() => whatLearns(frontDesk, { optimize })).toThrow(expect.objectContaining({ code: 'learn/other-kind' }))
  })
})

describe('where no weights learn', () => {
  const practise = async (changes: Partial<RolloutOptions>) => {
    const store = await openMemoryStore()
    const reward = rubric({ solved: verifier(() => 1) })
    const source = rollouts(desks, deskTasks)
    const optimize = { route: reinforce() }
    const schedule = { updates: 1, tasks: 2, attempts: 2, validateEvery: 1 }
    try {
      await learn(frontDesk, { store, source, reward, optimize, schedule, ...changes })
    } finally {
      await store.close()
    }
  }

  it.each([
    ['prime', { prime: { demonstrations: [] } }],
    ['control', { control: true }],
    ['guide', { guide: () => null }],
  ])('the option %s is refused by its name', async (name, changes) => {
    const message = expect.stringContaining(`"${name}"`)
    await expect(practise(changes)).rejects.toMatchObject({ code: 'learn/needs-weights', message })
  })

  it('an option that says no is none', async () => {
    await expect(practise({ control: false })).resolves.toBeUndefined()
  })
})
