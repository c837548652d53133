import { describe, expect, it } from 'vitest'
import { answeringModel } from '../../../test/support/judged.ts'
import { practisedModel } from '../../../test/support/practised-model.ts'
import { readerTasks } from '../../../test/support/reader.ts'
import { answeredRight, wordEnvironment } from '../../../test/support/word-environment.ts'
import { defineAgent, user, weights } from '../../agent/index.ts'
import type { CreditContext, CreditEstimator, PolicySample, WeightsOptimizer } from '../../core/index.ts'
import { adca, leaveOneOut } from '../../credit/index.ts'
import { pairedGate } from '../../gate/index.ts'
import { policyGradient } from '../../optimize/weights/index.ts'
import { rubric, verifier } from '../../reward/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { learn } from '../learn.ts'
import type { RolloutOptions } from '../options.ts'
import { rollouts } from '../source.ts'
import { givenModels, withJudges } from './judges.ts'

const reader = defineAgent({
  name: 'reader',
  parameters: { model: weights({ base: 'words', rank: 4 }) },
  run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
})
const { model: judge } = answeringModel(() => null)
const { service } = practisedModel()

describe('the models of a run', () => {
  it('are those of weights, and one that judges', () => {
    expect(givenModels(reader, { model: service, models: { judge } })).toEqual({ weights: { model: service }, judge })
    expect(givenModels(reader, { models: { model: service, judge } })).toEqual({
      weights: { models: { model: service } },
      judge,
    })
    expect(givenModels(reader, { model: service })).toEqual({ weights: { model: service }, judge: null })
  })

  it('a Parameter of weights may have the name', () => {
    const judging = defineAgent({
      ...reader,
      parameters: { judge: weights({ base: 'words' }) },
      run: () => Promise.reject(),
    })
    expect(givenModels(judging, { models: { judge: service } })).toEqual({
      weights: { models: { judge: service } },
      judge: null,
    })
  })

  it('are refused where one stands in the place of the other sort', () => {
    const refused = expect.objectContaining({ code: 'agent/other-sort-of-model' })
    expect(() => givenModels(reader, { models: { judge: service } })).toThrow(refused)
    expect(() => givenModels(reader, { models: { model: judge } })).toThrow(refused)
  })
})

describe('credit', () => {
  const seen: CreditContext[] = []
  const watching: CreditEstimator = {
    name: 'watching',
    credit: (groups, context) => {
      seen.push(context)
      return leaveOneOut().credit(groups, context)
    },
  }

  it('gets a judge of episodes and one of steps; what a caller gives goes first', async () => {
    const context = { signals: new Map(), asOf: 0, rng: { next: () => 0 } } as unknown as CreditContext
    await withJudges(watching, judge).credit([], context)
    expect([seen[0]?.judge?.name, seen[0]?.stepJudge?.name]).toEqual([
      expect.stringMatching(/^model:/),
      expect.stringMatching(/^attribution:/),
    ])
    const own = { name: 'own', label: () => null }
    await withJudges(watching, judge).credit([], { ...context, stepJudge: own })
    expect(seen[1]?.stepJudge).toBe(own)
    expect(withJudges(watching, null)).toBe(watching)
  })

  const run = async (options: Partial<RolloutOptions>) => {
    const store = await openMemoryStore()
    const samples: PolicySample[] = []
    const plain = policyGradient()
    const kept: WeightsOptimizer = {
      ...plain,
      step(context) {
        samples.push(...context.gradients.flatMap(({ deposits }) => deposits))
        return plain.step(context)
      },
    }
    try {
      await learn(reader, {
        store,
        source: rollouts(wordEnvironment, readerTasks),
        prime: {
          demonstrations: [
            {
              messages: [
                { role: 'user', content: 'What is the word of x?' },
                { role: 'assistant', content: '', toolCalls: [{ name: 'look', arguments: {} }] },
              ],
            },
          ],
        },
        reward: rubric({ solved: verifier((final) => answeredRight(final)) }),
        credit: adca({ outcome: leaveOneOut() }),
        optimize: { model: kept },
        gate: pairedGate({ margin: 0, alpha: 0.25 }),
        schedule: {
          primePasses: 2,
          updates: 1,
          tasks: 4,
          attempts: 4,
          rounds: 1,
          validateEvery: 1,
          validationTasks: 3,
          holdoutTasks: 8,
          imitation: 0,
          explorationTasks: 0,
          averaging: 0,
          patience: null,
          target: null,
        },
        ...options,
      })
    } finally {
      await store.close()
    }
    return samples
  }

  it('of a run asks the model that the run names', async () => {
    const { model: asked, asked: questions } = answeringModel(({ instructions }) => {
      const steps = Number(/It has (\d+) steps/.exec(instructions)?.[1])
      return JSON.stringify(Array.from({ length: steps }, (_, i) => (i === 0 ? 'bad' : 'good')))
    })
    const samples = await run({ models: { model: practisedModel().service, judge: asked } })
    // One question an attempt.
    expect(questions.length).toBe(16)
    // Attempts of two steps have another credit for each.
    const advantages = samples.map(({ advantages: all, sampled }) => new Set(all.filter((_, t) => sampled[t])).size)
    expect(Math.max(...advantages)).toBe(2)
  })

  it('of a run that names none has nobody to ask', async () => {
    await expect(run({ model: practisedModel().service })).rejects.toMatchObject({ code: 'credit/no-step-labels' })
  })
})
