import { describe, expect, it } from 'vitest'
import { recordingTrainer } from '../../../test/support/recording-trainer.ts'
import { inProcessTrainer } from '../../../test/support/in-process-trainer.ts'
import { recordedStart } from '../../../test/support/watched-trainer.ts'
import { policySample, weightsStep } from '../../../test/support/weights-step.ts'
import { type PolicySample, rng, type Trainer } from '../../core/index.ts'
import type { AuxiliaryTasks } from './auxiliary.ts'
import { imitate } from './imitate.ts'
import { policyGradient } from './policy-gradient.ts'
import type { PolicyGradientOptions } from './policy-options.ts'
import { protoValues } from './proto-values.ts'
import { type Stage, stages } from './stages.ts'

/** Two outputs: the number of the turn, and of the token in the sample. */
const counted = (weight = 0.5): AuxiliaryTasks => ({
  outputs: 2,
  weight,
  targets: ({ acted }) => {
    let turn = 0
    return acted.map((flag, t) => {
      if (flag && !acted[t - 1]) turn++
      return flag ? [turn, t] : []
    })
  },
})

/** A trainer that writes down which heads it was given. */
function trainerWithHead() {
  const recording = recordingTrainer(10)
  const heads: number[] = []
  const attach = async (outputs: number) => void heads.push(outputs)
  const forwardBackward: Trainer['forwardBackward'] = async (data, loss) => ({
    ...(await recording.trainer.forwardBackward(data, loss)),
    ...(data.some(({ auxiliary }) => auxiliary) && { auxiliaryLoss: 0.75 }),
  })
  return { ...recording, heads, trainer: { ...recording.trainer, forwardBackward, auxiliary: { attach } } }
}

const samples = [policySample([1, -2, -3, 4, -5]), policySample([1, -6], -1, -1)]

async function practised(options: PolicyGradientOptions, given: readonly PolicySample[] = samples) {
  const { trainer, passes, heads } = trainerWithHead()
  const { metrics } = await policyGradient(options).step(weightsStep(given, trainer))
  return { metrics, passes, heads }
}

describe('a policy gradient', () => {
  it('predicts where tokens are sampled, each by its share of the batch and the tasks by theirs', async () => {
    const { passes, metrics, heads } = await practised({ auxiliary: counted() })
    expect(heads).toEqual([2])
    expect(passes[0]?.data.map(({ auxiliary }) => auxiliary)).toEqual([
      {
        targets: [[1, 1], [1, 2], [], [2, 4]],
        // Four tokens were sampled: 0.5 / 4.
        weights: [0.125, 0.125, 0, 0.125],
      },
      { targets: [[1, 1]], weights: [0.125] },
    ])
    expect(metrics['auxiliaryLoss']).toBeCloseTo(0.75 / 0.5, 12)
  })

  it('changes nothing else that the trainer is given or that is told', async () => {
    const [plain, beside] = [await practised({}), await practised({ auxiliary: counted() })]
    const without = beside.passes.map(({ data, ...rest }) => ({
      ...rest,
      data: data.map((datum) => {
        const { auxiliary: _, ...left } = datum
        return left
      }),
    }))
    expect(without).toEqual(plain.passes)
    const { auxiliaryLoss: _, ...told } = beside.metrics
    expect(told).toEqual(plain.metrics)
  })

  it('with tasks that weigh nothing is one without', async () => {
    const [plain, silent] = [await practised({}), await practised({ auxiliary: counted(0) })]
    expect(silent).toEqual(plain)
    expect(policyGradient({ auxiliary: counted(0) }).auxiliary).toBe(false)
  })

  it('reads all turns of a sample, and predicts in those that are learned', async () => {
    const { passes } = await practised({ auxiliary: counted(), turns: 'last' }, samples.slice(0, 1))
    expect(passes[0]?.data[0]?.auxiliary).toEqual({ targets: [[1, 1], [1, 2], [], [2, 4]], weights: [0, 0, 0, 0.5] })
  })

  it('leaves samples alone of which nothing is known', async () => {
    const returns = protoValues({ outputs: 1, returns: true })
    const known = { ...policySample([1, -2]), earned: 3 }
    const { passes } = await practised({ auxiliary: returns }, [known, policySample([1, -3])])
    expect(passes[0]?.data.map(({ auxiliary }) => auxiliary?.targets)).toEqual([[[0, 3]], undefined])
  })

  it.each(['gspo', 'ppo'] as const)('tells of them where the loss is %s by the slopes, too', async (loss) => {
    const { passes } = await practised({ loss, ...(loss === 'ppo' && { dualClip: 3 }), auxiliary: counted() })
    expect(passes[0]?.loss.kind).toBe('importance_sampling')
    expect(passes[0]?.data[0]?.auxiliary?.targets).toEqual([[1, 1], [1, 2], [], [2, 4]])
  })

  it('refuses a trainer without a head, before it learns anything', async () => {
    const { trainer, passes } = recordingTrainer()
    const step = policyGradient({ auxiliary: counted() }).step(weightsStep(samples, trainer))
    await expect(step).rejects.toMatchObject({ code: 'optimize/no-auxiliary-head' })
    expect(passes).toEqual([])
  })

  it.each([{ outputs: 0 }, { outputs: 1.5 }, { weight: -1 }, { weight: Number.NaN }])('refuses %o', (change) => {
    const auxiliary = { ...counted(), ...change }
    const bad = expect.objectContaining({ code: 'optimize/bad-option' })
    expect(() => policyGradient({ auxiliary })).toThrow(bad)
    expect(() => imitate({ auxiliary })).toThrow(bad)
  })
})

describe('imitation', () => {
  const demonstrations = [
    { tokens: [1, 2, 3], learn: [false, true, true] },
    { tokens: [1, 2, 3, 4], learn: [false, true, false, true], weight: 2 },
  ]

  it('predicts where it learns', async () => {
    const { trainer, passes, heads } = trainerWithHead()
    const lesson = imitate({ auxiliary: counted() })
    const metrics = await lesson.imitate({ trainer, demonstrations: demonstrations.slice(0, 1), rng: rng('test') })
    expect(heads).toEqual([2])
    expect(passes[0]?.data[0]?.auxiliary).toEqual({
      targets: [
        [1, 1],
        [1, 2],
      ],
      weights: [0.25, 0.25],
    })
    expect(metrics['auxiliaryLoss']).toBeCloseTo(1.5, 12)
  })

  it('by how much each weighs', async () => {
    const { trainer, passes } = trainerWithHead()
    await imitate({ auxiliary: counted(1) }).imitate({ trainer, demonstrations, rng: rng('test') })
    // (1 · 2 + 2 · 2 acts) = 6 in all.
    const weights = passes[0]?.data.map(({ auxiliary }) => auxiliary?.weights.map((weight) => weight * 6))
    expect(weights?.toSorted((a, b) => (a?.length ?? 0) - (b?.length ?? 0))).toEqual([
      [expect.closeTo(1), expect.closeTo(1)],
      [expect.closeTo(2), 0, expect.closeTo(2)],
    ])
  })
})

it('a lesson says that it needs a head, and so do the stages that it is part of', () => {
  const [beside, plain] = [policyGradient({ auxiliary: counted() }), policyGradient()]
  expect([beside.auxiliary, plain.auxiliary]).toEqual([true, false])
  const needs = (...given: readonly Stage[]) =>
    stages(...given).lessons.flatMap((lesson) => ('auxiliary' in lesson && lesson.auxiliary ? [lesson.name] : []))
  expect(needs({ updates: 1, lessons: plain }, { lessons: beside })).toEqual(['practice'])
  expect(needs({ lessons: plain })).toEqual([])
  expect(needs({ lessons: imitate({ auxiliary: counted() }) })).toEqual(['imitation'])
})

it('the embedded engine learns to predict what is observed later', async () => {
  const { names: _, ...start } = recordedStart(4, 8)
  const { trainer } = inProcessTrainer(start)
  const lesson = imitate({ auxiliary: protoValues({ outputs: 8, weight: 1 }), learningRate: 0.01 })
  // What is observed hangs on what was read first.
  const shown = (what: number, seen: number) => ({
    tokens: [what, 9, seen, seen + 1, 9],
    learn: [false, true, false, false, true],
  })
  const demonstrations = [shown(3, 20), shown(4, 30), shown(5, 40)]
  const losses: number[] = []
  for (let pass = 0; pass < 40; pass++) {
    const metrics = await lesson.imitate({ trainer, demonstrations, rng: rng('passes', pass) })
    losses.push(metrics['auxiliaryLoss'] ?? Number.NaN)
  }
  // Half of the acts observe something, as ±√(1 − γ²), and half nothing.
  expect(losses[0]).toBeCloseTo((1 - 0.9 ** 2) / 2, 5)
  expect(losses.at(-1)).toBeLessThan(0.1 * losses[0]!)
})
