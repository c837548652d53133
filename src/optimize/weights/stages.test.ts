import { describe, expect, it } from 'vitest'
import { recordingTrainer } from '../../../test/support/recording-trainer.ts'
import { policySample, weightsStep } from '../../../test/support/weights-step.ts'
import { rng } from '../../core/index.ts'
import { groupPairs } from './group-pairs.ts'
import { imitate } from './imitate.ts'
import { policyGradient } from './policy-gradient.ts'
import { preferences } from './preferences.ts'
import { sequence, weightsPlan } from './sequence.ts'
import { planThenAct, type Stage, stages } from './stages.ts'

/** Three turns of one token. */
const sample = policySample([9, -1, 9, -2, 9, -3], -Math.log(10))
const demonstration = { tokens: sample.tokens, learn: sample.sampled }

/** Which turns an update practises, at which rate; and which a pass imitates. */
function learning(...given: readonly Stage[]) {
  const plan = weightsPlan(stages(...given))
  const practised = async (update: number) => {
    const { trainer, passes } = recordingTrainer()
    const result = await plan.practice?.step(weightsStep([sample], trainer, update))
    const turns = passes[0]?.data[0]?.advantages?.map((value) => (value === 0 ? 0 : 1)) ?? null
    return { turns, rate: passes[0]?.adam.learningRate, stage: result?.metrics['stage'] }
  }
  const imitated = async (update?: number) => {
    const { trainer, passes } = recordingTrainer()
    await plan.imitation?.imitate({
      trainer,
      demonstrations: [demonstration],
      rng: rng('a'),
      ...(update !== undefined && { update }),
    })
    return passes[0]?.data[0]?.weights?.map((value) => (value === 0 ? 0 : 1)) ?? null
  }
  return { plan, practised, imitated }
}

const [all, last, none] = [[1, 0, 1, 0, 1], [0, 0, 0, 0, 1], null]

it('do in each update what its stage does: SFT → RL → SFT → RL, the last of the final answer', async () => {
  const { practised, imitated, plan } = learning(
    { updates: 2, lessons: imitate() },
    { updates: 3, lessons: sequence(policyGradient()) },
    { updates: 1, lessons: imitate({ turns: 'last' }) },
    { lessons: sequence(policyGradient({ turns: 'last' })) },
  )
  expect(plan.turns.toSorted()).toEqual(['imitate', 'practise'])
  const updates = [0, 1, 2, 4, 5, 6, 99]
  expect(await Promise.all(updates.map(async (at) => (await practised(at)).turns))).toEqual([
    none,
    none,
    all,
    all,
    none,
    last,
    last,
  ])
  expect(await Promise.all(updates.map(imitated))).toEqual([all, all, none, none, last, none, none])
  expect(await Promise.all(updates.map(async (at) => (await practised(at)).stage))).toEqual([1, 1, 2, 2, 3, 4, 4])
})

it('count their own updates: each has its warm-up', async () => {
  const lessons = sequence(policyGradient({ learningRate: 1, warmupUpdates: 4 }))
  const { practised } = learning({ updates: 10, lessons }, { lessons })
  const rates = await Promise.all([0, 1, 9, 10, 11].map(async (at) => (await practised(at)).rate))
  expect(rates).toEqual([0.25, 0.5, 1, 0.25, 0.5])
})

it('imitate demonstrations before the first update, whichever stage imitates first', async () => {
  const { imitated } = learning(
    { updates: 2, lessons: sequence(policyGradient()) },
    { lessons: sequence(policyGradient(), imitate({ turns: 'last' })) },
  )
  expect([await imitated(), await imitated(0), await imitated(2)]).toEqual([last, none, last])
})

it('ask a trainer for the losses of all of them, and make pairs only where one does', () => {
  const { plan } = learning(
    { updates: 1, lessons: sequence(policyGradient({ loss: 'cispo' }), imitate()) },
    { lessons: sequence(policyGradient({ loss: 'gspo' }), preferences({ from: groupPairs() })) },
  )
  expect(plan.practice?.losses).toEqual(['cispo', 'importance_sampling'])
  expect(plan.turns).toEqual(['practise', 'imitate', 'prefer'])
  expect(plan.preferring?.pairsIn?.([], 0, 'model')).toEqual([])
  const without = learning({ lessons: policyGradient() }).plan.preferring
  expect(without?.pairsIn).toBeUndefined()
})

describe('refuse', () => {
  const lessons = imitate()
  const bad: readonly [string, readonly Stage[], string][] = [
    ['none', [], 'Stages of nothing'],
    ['a stage before the last without an end', [{ lessons }, { lessons }], 'Stage 1 of 2 takes no updates'],
    ['half an update', [{ updates: 0.5, lessons }, { lessons }], 'Stage 1 of 2 takes 0.5 updates'],
    ['an end of the last', [{ updates: 3, lessons }], 'Stage 1 of 1 takes 3 updates'],
    [
      'orders that contradict each other',
      [
        { updates: 1, lessons: sequence(imitate(), policyGradient()) },
        { lessons: sequence(policyGradient(), imitate()) },
      ],
      'different orders',
    ],
  ]
  it.each(bad)('%s', (_, given, message) => {
    expect(() => stages(...given)).toThrow(message)
  })
})

it('plan, then act: first what follows the plan, then the plan, then all', async () => {
  const plan = weightsPlan(planThenAct({ follow: 2, plan: 3, learningRate: 0.5 }))
  const turns = async (update: number) => {
    const { trainer, passes } = recordingTrainer()
    await plan.practice?.step(weightsStep([sample], trainer, update))
    expect(passes[0]?.adam.learningRate).toBe(0.5)
    return passes[0]?.data[0]?.advantages?.map((value) => (value === 0 ? 0 : 1))
  }
  expect(await Promise.all([1, 2, 4, 5].map(turns))).toEqual([[0, 0, 1, 0, 1], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], all])
})
