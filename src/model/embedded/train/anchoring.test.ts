import { describe, expect, it } from 'vitest'
import { type InProcessOptions, inProcessTrainer } from '../../../../test/support/in-process-trainer.ts'
import { recorded, recordedAdapter, recordedModel, relativeError, unpack } from '../../../../test/support/recorded.ts'
import type { Datum, Trainer } from '../../../core/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { type Trained, trainedShapes } from '../transformer/trained.ts'
import { readAnchor } from './anchor-file.ts'
import { FlatTensors, flatten } from './flat-tensors.ts'
import { readTrainedWeights } from './trained-weights.ts'

interface Vectors {
  readonly temperature: number
  readonly strength: number
  readonly logprobs: readonly string[]
  readonly importance: Record<'lora' | 'full', Record<string, string>>
  readonly held: {
    readonly steps: readonly { readonly penalty: number; readonly norm: number }[]
    readonly values: Record<string, string>
  }
}
const vectors = recorded('anchors') as Vectors
const { data, config, rank, alpha } = recorded('losses') as {
  data: Datum[]
  config: TransformerConfig
  rank: number
  alpha: number
}
const model = recordedModel(config)
const { tensors, ...loraConfig } = recordedAdapter(config, rank, alpha)
const lora: Trained = { kind: 'lora', ...loraConfig }
const full: Trained = { kind: 'full' }
const adapted = { model, trained: lora, values: flatten(trainedShapes(config, lora), tensors) }
const sft = { kind: 'cross_entropy' } as const
const adam = { learningRate: 0.01, gradClipNorm: 1 }

const open = (options: Partial<InProcessOptions> = {}) => inProcessTrainer({ ...adapted, ...options }).trainer
const step = async (trainer: Trainer, of = data) => {
  await trainer.forwardBackward(of, sft)
  return trainer.optimStep(adam)
}
const importanceOf = (trainer: Trainer, of = data) => trainer.anchoring!.importance(of)

describe('forward', () => {
  it('gives the log-probability of every target as PyTorch does, those of weight 0 too', async () => {
    const found = await open({ shards: 2, budget: 8 }).forward(data, vectors.temperature)
    for (const [index, logprobs] of vectors.logprobs.entries()) {
      expect(relativeError(found[index]!, unpack(logprobs))).toBeLessThan(2e-6)
    }
  })

  it('is what forwardBackward finds, at temperature 1 unless it is told', async () => {
    const trainer = open()
    const all = data.map(({ input, target }) => ({ input, target }))
    const { logprobs } = await trainer.forwardBackward(all, sft)
    expect(relativeError((await trainer.forward(data)).flat(), logprobs.flat())).toBeLessThan(1e-6)
  })

  it.each([lora, full])('accumulates nothing in $kind training: a step around it is the same step', async (trained) => {
    const start = () => inProcessTrainer({ model, trained, shards: 2, budget: 8 }).trainer
    const [plain, looked] = [start(), start()]
    await plain.forwardBackward(data, sft)
    await looked.forward(data)
    await looked.forwardBackward(data, sft)
    await looked.forward(data, 0.5)
    await importanceOf(looked)
    expect(await looked.optimStep(adam)).toEqual(await plain.optimStep(adam))
    expect(await looked.saveState()).toEqual(await plain.saveState())
  })

  it('refuses what forwardBackward refuses', async () => {
    const trainer = open()
    await expect(trainer.forward([{ input: [1, 2], target: [2] }])).rejects.toMatchObject({
      code: 'model/invalid-datum',
    })
    await expect(trainer.forward(data, 0)).rejects.toMatchObject({ code: 'model/invalid-loss' })
    expect(await trainer.forward([])).toEqual([])
  })
})

describe.each([lora, full])('importance in $kind training', (trained) => {
  const start = trained.kind === 'lora' ? adapted : { model, trained }

  it.each([1, 2])('is the mean squared gradient of PyTorch, one datum at a time, on %i shards', async (shards) => {
    const { trainer } = inProcessTrainer({ ...start, shards, budget: 8 })
    const shapes = trainedShapes(config, trained)
    const { importance, values } = readAnchor(config, trained, await importanceOf(trainer))
    const byName = new FlatTensors(shapes, importance)
    for (const [name, expected] of Object.entries(vectors.importance[trained.kind])) {
      expect(relativeError(byName.view(name), unpack(expected)), name).toBeLessThan(5e-5)
    }
    expect(values).toEqual(readTrainedWeights(config, trained, await trainer.saveWeights()))
  })

  it('is the square of a slope found by finite differences', async () => {
    const { trainer } = inProcessTrainer(start)
    const { importance, values } = readAnchor(config, trained, await importanceOf(trainer, [data[0]!]))
    const likelihoodAt = async (values: Float32Array) => {
      const [logprobs] = await inProcessTrainer({ ...start, values }).trainer.forward([data[0]!])
      return logprobs!.reduce((sum, logprob, t) => sum + logprob * data[0]!.weights![t]!, 0)
    }
    const largest = importance.reduce((best, f, i) => (f > importance[best]! ? i : best), 0)
    for (const index of [largest, Math.floor(importance.length / 3)]) {
      const moved = (by: number) => values.with(index, values[index]! + by)
      const slope = ((await likelihoodAt(moved(0.01))) - (await likelihoodAt(moved(-0.01)))) / 0.02
      expect(slope ** 2).toBeCloseTo(importance[index]!, 1)
    }
  })

  it('goes on bit for bit from a saved state, and holds on as before', async () => {
    const original = inProcessTrainer({ ...start, shards: 2, budget: 8 }).trainer
    const first = await importanceOf(original)
    await step(original)
    await original.anchoring!.hold([first, await importanceOf(original, data.slice(1))], 20)
    await step(original)
    const restored = inProcessTrainer({ ...start, shards: 2, budget: 8 }).trainer
    await restored.loadState(await original.saveState())
    for (let i = 0; i < 2; i++) {
      const expected = await step(original)
      expect(expected.anchorPenalty).toBeGreaterThan(0)
      expect(await step(restored)).toEqual(expected)
    }
    expect(await restored.saveState()).toEqual(await original.saveState())
  })
})

describe('holding on', () => {
  it('steps as PyTorch does with the penalty in its loss, clipped as one', async () => {
    const trainer = open()
    await trainer.anchoring!.hold([await importanceOf(trainer)], vectors.strength)
    for (const { penalty, norm } of vectors.held.steps) {
      const { anchorPenalty, gradNorm } = await step(trainer, [data[0]!])
      expect(anchorPenalty).toBeCloseTo(penalty, 3)
      expect((gradNorm ?? 0) / norm).toBeCloseTo(1, 4)
    }
    const found = new FlatTensors(
      trainedShapes(config, lora),
      readTrainedWeights(config, lora, await trainer.saveWeights()),
    )
    for (const [name, expected] of Object.entries(vectors.held.values)) {
      expect(relativeError(found.view(name), unpack(expected)), name).toBeLessThan(1e-4)
    }
  })

  it('stays nearer to what it was than letting go does, and pulls back without any gradient', async () => {
    const strayed = async (strength: number) => {
      const trainer = open()
      const anchor = await importanceOf(trainer)
      await trainer.anchoring!.hold([anchor], strength)
      for (let i = 0; i < 5; i++) await step(trainer, [data[1]!])
      // What the same anchor costs at strength 2 here: the weighted distance.
      await trainer.anchoring!.hold([anchor], 2)
      const { anchorPenalty } = await trainer.optimStep({ learningRate: 0.001 })
      const { anchorPenalty: after } = await trainer.optimStep({ learningRate: 0 })
      expect(after).toBeLessThan(anchorPenalty)
      return anchorPenalty
    }
    const free = await strayed(0)
    expect(free).toBeGreaterThan(0)
    expect(await strayed(1000)).toBeLessThan(free / 2)
  })

  it('an empty list lets go, and what is held outlives other weights', async () => {
    const trainer = open()
    const anchor = await importanceOf(trainer)
    await trainer.anchoring!.hold([anchor], 1)
    const other = open()
    await step(other)
    await trainer.loadWeights(await other.saveWeights())
    expect((await step(trainer)).anchorPenalty).toBeGreaterThan(0)
    await trainer.anchoring!.hold([], 1)
    expect((await step(trainer)).anchorPenalty).toBe(0)
  })

  it('a state that holds nothing lets go', async () => {
    const trainer = open()
    const free = await trainer.saveState()
    await trainer.anchoring!.hold([await importanceOf(trainer)], 1)
    await trainer.loadState(free)
    await step(trainer)
    expect((await step(trainer)).anchorPenalty).toBe(0)
  })

  it('refuses anchors of other weights, and keeps what it held', async () => {
    const trainer = open()
    const anchor = await importanceOf(trainer)
    await trainer.anchoring!.hold([anchor], 3)
    const before = await trainer.saveState()
    const hold = (bytes: Uint8Array, strength = 1) => trainer.anchoring!.hold([anchor, bytes], strength)
    const narrow = inProcessTrainer({ model, trained: { ...lora, rank: 2 } as Trained }).trainer
    const whole = inProcessTrainer({ model, trained: full }).trainer
    await expect(hold(await importanceOf(narrow))).rejects.toThrow(/rank 2.*rank 4/)
    await expect(hold(await importanceOf(whole))).rejects.toMatchObject({ code: 'model/state-mismatch' })
    await expect(hold(await trainer.saveWeights())).rejects.toMatchObject({ code: 'model/state-mismatch' })
    await expect(trainer.loadWeights(anchor)).rejects.toMatchObject({ code: 'model/state-mismatch' })
    for (const strength of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(hold(anchor, strength)).rejects.toMatchObject({ code: 'model/invalid-anchoring' })
    }
    expect(await trainer.saveState()).toEqual(before)
  })

  it('measures nothing on data without a target', async () => {
    const silent = { input: [1, 2], target: [2, 3], weights: [0, 0] }
    for (const none of [[], [silent]]) {
      await expect(importanceOf(open(), none)).rejects.toMatchObject({ code: 'model/invalid-anchoring' })
    }
  })
})

it('an anchor is read back as it was measured, and a damaged one is refused', async () => {
  const bytes = await importanceOf(open())
  const damaged = bytes.slice()
  // The last value in the file becomes NaN.
  damaged.fill(0xff, damaged.length - 4)
  expect(() => readAnchor(config, lora, damaged)).toThrow(/not finite/)
  expect(() => readAnchor(config, lora, bytes.slice(0, 90))).toThrow()
})
