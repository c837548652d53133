import { describe, expect, it } from 'vitest'
import { recordingTrainer } from '../../../test/support/recording-trainer.ts'
import { rng } from '../../core/index.ts'
import { supervisedPass } from './supervised.ts'

/** Demonstration i: a context token, then acts named i. */
const demonstration = (i: number, acts: number) => ({
  tokens: [0, ...Array.from({ length: acts }, () => i)],
  learn: [false, ...Array.from({ length: acts }, () => true)],
})
const five = [1, 2, 3, 4, 5].map((i) => demonstration(i, i))

it('sees every demonstration once a pass, in an order that the generator decides', async () => {
  const seen = async (key: string) => {
    const { trainer, passes } = recordingTrainer()
    await supervisedPass(trainer, five, rng(key), { batchSize: 2 })
    expect(passes.map(({ data }) => data.length)).toEqual([2, 2, 1])
    return passes.flatMap(({ data }) => data.map(({ target }) => target[0] ?? 0))
  }
  const order = await seen('a')
  expect(order.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5])
  expect(await seen('a')).toEqual(order)
  expect(await seen('b')).not.toEqual(order)
})

it('each batch’s loss is the mean over its acts; the pass reports the mean over all', async () => {
  const { trainer, passes } = recordingTrainer(10)
  const metrics = await supervisedPass(trainer, five, rng('a'), { batchSize: 2 })
  for (const { data, loss } of passes) {
    expect(loss).toEqual({ kind: 'cross_entropy' })
    const total = data.flatMap(({ weights = [] }) => weights).reduce((sum, weight) => sum + weight, 0)
    expect(total).toBeCloseTo(1, 12)
  }
  expect(metrics.loss).toBeCloseTo(Math.log(10), 12)
  expect(metrics).toMatchObject({ steps: 3, gradNorm: 2 })
})

it('counts every token that it trained on, context included, as policy gradient does', async () => {
  const { trainer, passes } = recordingTrainer()
  const shown = { tokens: [1, 2, 3, 4, 5], learn: [false, false, false, true, true] }
  const { tokens } = await supervisedPass(trainer, [shown, shown], rng('a'))
  expect(tokens).toBe(passes.flatMap(({ data }) => data).reduce((sum, { input }) => sum + input.length, 0))
  expect(tokens).toBe(8)
})

it('passes the optimizer’s options on', async () => {
  const { trainer, passes } = recordingTrainer()
  const options = { learningRate: 0.5, gradClipNorm: 3, weightDecay: 0.125 }
  await supervisedPass(trainer, five, rng('a'), options)
  expect(passes.map(({ adam }) => adam)).toEqual([options])
})

it('takes no step where there is nothing to imitate', async () => {
  const { trainer, passes } = recordingTrainer()
  const nothing = { loss: 0, gradNorm: 0, steps: 0, tokens: 0 }
  expect(await supervisedPass(trainer, [], rng('a'))).toEqual(nothing)
  // The first token follows nothing: it cannot be learnt.
  expect(await supervisedPass(trainer, [{ tokens: [1, 2], learn: [true, false] }], rng('a'))).toEqual(nothing)
  expect(passes).toEqual([])
})

it.each([0, -1, 1.5, Number.NaN])('refuses a batch size of %s', async (batchSize) => {
  const pass = supervisedPass(recordingTrainer().trainer, five, rng('a'), { batchSize })
  await expect(pass).rejects.toMatchObject({ code: 'optimize/bad-option' })
})

describe('weights', () => {
  it('make a demonstration count that much more, and the loss a weighted mean', async () => {
    const { trainer, passes } = recordingTrainer()
    const [one, two] = [demonstration(1, 1), { ...demonstration(2, 2), weight: 3 }]
    const metrics = await supervisedPass(trainer, [one, two], rng('a'))
    const weightOf = (name: number) =>
      passes[0]?.data.find(({ target }) => target[0] === name)?.weights?.map((weight) => weight * 7)
    expect(weightOf(1)).toEqual([expect.closeTo(1, 12)])
    expect(weightOf(2)).toEqual([expect.closeTo(3, 12), expect.closeTo(3, 12)])
    expect(metrics.loss).toBeCloseTo(Math.log(10), 12)
  })

  it('of 0 leave nothing to imitate', async () => {
    const { trainer, passes } = recordingTrainer()
    await supervisedPass(trainer, [{ ...demonstration(1, 1), weight: 0 }], rng('a'))
    expect(passes).toEqual([])
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('cannot be %s', async (weight) => {
    const { trainer } = recordingTrainer()
    const pass = supervisedPass(trainer, [{ ...demonstration(1, 1), weight }], rng('a'))
    await expect(pass).rejects.toMatchObject({ code: 'optimize/bad-option' })
  })
})
