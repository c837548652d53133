import { describe, expect, it } from 'vitest'
import { inProcessTrainer } from '../../../test/support/in-process-trainer.ts'
import { recorded, relativeError, unpack } from '../../../test/support/recorded.ts'
import { recordingTrainer } from '../../../test/support/recording-trainer.ts'
import { recordedStart, watchedTrainer } from '../../../test/support/watched-trainer.ts'
import { type AdamParams, type PreferencePair, rng } from '../../core/index.ts'
import { type PreferenceOptions, preferenceStep, referenceLogprobs, type SideLogprobs } from './preference.ts'

interface Case {
  readonly loss: number
  readonly margins: readonly number[]
  readonly gradients: Record<string, string>
}
interface Vectors {
  readonly rank: number
  readonly alpha: number
  readonly pairs: readonly { readonly context: number[]; readonly chosen: number[]; readonly rejected: number[] }[]
  readonly beta: number
  readonly smoothing: number
  readonly reference: readonly SideLogprobs[]
  readonly plain: Case
  readonly smoothed: Case
}
const vectors = recorded('preference') as Vectors
const { model, trained, values, names } = recordedStart(vectors.rank, vectors.alpha)

const demonstration = (context: number[], side: number[]) => ({
  tokens: [...context, ...side],
  learn: [...context.map(() => false), ...side.map(() => true)],
})
const pairs: PreferencePair[] = vectors.pairs.map(({ context, chosen, rejected }) => ({
  chosen: demonstration(context, chosen),
  rejected: demonstration(context, rejected),
}))

const watched = () => watchedTrainer({ model, trained, values })

describe.each([
  ['plain', 0],
  ['smoothed', vectors.smoothing],
] as const)('%s DPO', (name, labelSmoothing) => {
  const expected = vectors[name]

  it('has the loss, margins and gradient of PyTorch', async () => {
    const { trainer, gradients } = watched()
    const options = { reference: vectors.reference, beta: vectors.beta, labelSmoothing }
    const metrics = await preferenceStep(trainer, pairs, options)
    expect(metrics.loss).toBeCloseTo(expected.loss, 5)
    expect(metrics.margin).toBeCloseTo(expected.margins.reduce((sum, margin) => sum + margin, 0) / 2, 5)
    expect(metrics.accuracy).toBe(expected.margins.filter((margin) => margin > 0).length / 2)
    const all = Object.values(expected.gradients).flatMap((packed) => [...unpack(packed)])
    expect(Object.keys(expected.gradients).sort()).toEqual([...names].sort())
    const inOrder = names.flatMap((tensor) => [...unpack(expected.gradients[tensor]!)])
    expect(all).toHaveLength(gradients[0]!.length)
    expect(relativeError(gradients[0]!, inOrder)).toBeLessThan(2e-5)
  })
})

describe('a preference step', () => {
  const start = (from = values) => inProcessTrainer({ model, trained, values: from.slice() }).trainer

  it('descends the loss that it reports: the slope along the gradient is its squared norm', async () => {
    const { trainer, gradients } = watched()
    const options = { reference: vectors.reference, beta: 0.5 }
    await preferenceStep(trainer, pairs, options)
    const norm = Math.hypot(...gradients[0]!)
    const lossAt = async (by: number) => {
      const moved = values.map((value, i) => value + (by * gradients[0]![i]!) / norm)
      return (await preferenceStep(start(moved), pairs, options)).loss!
    }
    expect(((await lossAt(0.01)) - (await lossAt(-0.01))) / 0.02 / norm).toBeCloseTo(1, 1)
  })

  it('begins at log 2 against itself, and learns what is preferred', async () => {
    const trainer = start()
    const reference = await referenceLogprobs(trainer, pairs)
    const step = () => preferenceStep(trainer, pairs, { reference, learningRate: 0.003 })
    const first = await step()
    expect(first.loss).toBeCloseTo(Math.log(2), 5)
    expect(first.margin).toBeCloseTo(0, 4)
    for (let i = 0; i < 10; i++) await step()
    const last = await step()
    expect(last.accuracy).toBe(1)
    expect(last.loss).toBeLessThan(Math.log(2) * 0.95)
    expect(last.margin).toBeGreaterThan(0.1)
  })

  it('measures its reference before the first update, once', async () => {
    const given = start()
    const reference = await referenceLogprobs(given, pairs)
    const several = { epochs: 3, minibatches: 2, learningRate: 0.003 }
    const metrics = await preferenceStep(given, pairs, { ...several, reference })
    const measured = start()
    expect(await preferenceStep(measured, pairs, several)).toEqual(metrics)
    expect(await measured.saveState()).toEqual(await given.saveState())
    expect(metrics).toMatchObject({ steps: 6, pairs: 2, dropped: 0 })
  })

  it('learns nothing from a pair of equal sides', async () => {
    const { trainer, gradients } = watched()
    const same = { chosen: pairs[0]!.chosen, rejected: pairs[0]!.chosen }
    await preferenceStep(trainer, [same])
    expect(Math.hypot(...gradients[0]!)).toBeLessThan(1e-5)
  })

  it('sums over a side’s own tokens, and never over its context', async () => {
    const { trainer } = recordingTrainer(10)
    const [first] = await referenceLogprobs(trainer, pairs)
    expect(first?.chosen).toBeCloseTo(-3 * Math.log(10), 9)
    expect(first?.rejected).toBeCloseTo(-2 * Math.log(10), 9)
  })

  it('deals every pair once an epoch, in an order that the generator decides, and passes the optimizer’s options on', async () => {
    const many = Array.from({ length: 7 }, (_, i) => ({
      chosen: demonstration([0], [i]),
      rejected: demonstration([0], [9]),
    }))
    const adam: AdamParams = { learningRate: 0.5, gradClipNorm: 3, weightDecay: 0.125 }
    const dealt = async (key?: string) => {
      const { trainer, passes } = recordingTrainer(10)
      await preferenceStep(trainer, many, { ...adam, minibatches: 3, ...(key ? { rng: rng(key) } : {}) })
      expect(passes.map(({ data }) => data.length).toSorted((a, b) => a - b)).toEqual([4, 4, 6])
      for (const pass of passes) {
        expect(pass.adam).toEqual(adam)
        expect(pass.loss).toEqual({ kind: 'cross_entropy' })
        const weights = pass.data.flatMap((datum) => datum.weights ?? [])
        expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(0, 12)
      }
      return passes.flatMap(({ data }) => data.map(({ target }) => target[0]!).filter((name) => name !== 9))
    }
    expect((await dealt()).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(await dealt('a')).toEqual(await dealt('a'))
    expect(await dealt('a')).not.toEqual(await dealt('b'))
  })

  it('drops pairs with a side that has nothing of its own, and says so', async () => {
    const { trainer, passes } = recordingTrainer(10)
    const empty = { chosen: demonstration([1, 2], []), rejected: demonstration([1, 2], [3]) }
    expect(await preferenceStep(trainer, [empty])).toEqual({
      loss: 0,
      accuracy: 0,
      margin: 0,
      gradNorm: 0,
      steps: 0,
      tokens: 0,
      pairs: 0,
      dropped: 1,
    })
    expect(passes).toEqual([])
    expect(await preferenceStep(trainer, [...pairs, empty])).toMatchObject({ pairs: 2, dropped: 1 })
  })

  it('keeps its numbers where the policy has gone far', async () => {
    const { trainer, passes } = recordingTrainer(10)
    const far = pairs.map((_, i) => ({ chosen: i === 0 ? 1e5 : -1e5, rejected: 0 }))
    const { loss } = await preferenceStep(trainer, pairs, { reference: far })
    expect(Number.isFinite(loss)).toBe(true)
    expect(passes[0]?.data.flatMap((datum) => datum.weights ?? []).every(Number.isFinite)).toBe(true)
  })

  it.each<PreferenceOptions>([
    { beta: 0 },
    { beta: Number.NaN },
    { labelSmoothing: 0.5 },
    { labelSmoothing: -0.1 },
    { epochs: 0 },
    { minibatches: 1.5 },
    { reference: [] },
  ])('refuses %j', async (options) => {
    const step = preferenceStep(recordingTrainer().trainer, pairs, options)
    await expect(step).rejects.toMatchObject({ code: 'optimize/bad-option' })
  })
})
