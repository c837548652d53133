import { describe, expect, it } from 'vitest'
import { inProcessTrainer } from '../../../../test/support/in-process-trainer.ts'
import { recorded, recordedModel, relativeError } from '../../../../test/support/recorded.ts'
import type { Datum, Trainer } from '../../../core/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import type { Trained } from '../transformer/trained.ts'
import { LoraTarget } from './lora.ts'

const { data, config } = recorded('losses') as { data: Datum[]; config: TransformerConfig }
const model = recordedModel(config)
const lora: Trained = { kind: 'lora', rank: 4, alpha: 8, targets: LoraTarget.options }
const full: Trained = { kind: 'full' }
const prompt: Trained = { kind: 'prompt', length: 4 }
const sft = { kind: 'cross_entropy' } as const
const adam = { learningRate: 0.01, gradClipNorm: 1, weightDecay: 0.01 }

async function steps(trainer: Trainer, count: number): Promise<number[]> {
  const losses: number[] = []
  for (let step = 0; step < count; step++) {
    losses.push((await trainer.forwardBackward(data, sft)).loss)
    await trainer.optimStep(adam)
  }
  return losses
}

describe.each([lora, full, prompt])('$kind training', (trained) => {
  it('lowers the loss', async () => {
    const losses = await steps(inProcessTrainer({ model, trained }).trainer, 20)
    expect(losses.at(-1)).toBeLessThan(losses[0]! * 0.8)
  })

  it('leaves the base model as it was', async () => {
    const before = [...model.tensors].map(([name, tensor]) => [name, tensor.slice()])
    await steps(inProcessTrainer({ model, trained }).trainer, 2)
    expect([...model.tensors]).toEqual(before)
  })

  it.each([1, 2])('repeats bit for bit on %i shards', async (shards) => {
    const run = async () => {
      const { trainer } = inProcessTrainer({ model, trained, shards, budget: 8 })
      await steps(trainer, 3)
      return trainer.saveState()
    }
    expect(await run()).toEqual(await run())
  })

  it('sums gradients over calls: many small batches step like one large one', async () => {
    const whole = inProcessTrainer({ model, trained }).trainer
    await whole.forwardBackward(data, sft)
    const parts = inProcessTrainer({ model, trained, shards: 2 }).trainer
    for (const datum of data) await parts.forwardBackward([datum], sft)
    const [a, b] = [await whole.optimStep({ learningRate: 0.01 }), await parts.optimStep({ learningRate: 0.01 })]
    expect(b.gradNorm).toBeCloseTo(a.gradNorm, 4)
    const [lossA, lossB] = [await whole.forwardBackward(data, sft), await parts.forwardBackward(data, sft)]
    expect(relativeError([lossB.loss], [lossA.loss])).toBeLessThan(1e-4)
  })

  it('goes on bit for bit from a saved state', async () => {
    const original = inProcessTrainer({ model, trained }).trainer
    await steps(original, 3)
    const restored = inProcessTrainer({ model, trained, shards: 1 }).trainer
    await steps(restored, 1)
    await restored.loadState(await original.saveState())
    await steps(original, 2)
    await steps(restored, 2)
    expect(await restored.saveState()).toEqual(await original.saveState())
  })

  it('starts afresh from saved weights: same loss, step 1 again', async () => {
    const original = inProcessTrainer({ model, trained }).trainer
    await steps(original, 3)
    const other = inProcessTrainer({ model, trained, shards: 2, budget: 8 }).trainer
    await other.loadWeights(await original.saveWeights())
    const { loss } = await other.forwardBackward(data, sft)
    expect(loss).toBeCloseTo((await original.forwardBackward(data, sft)).loss, 4)
    expect((await other.optimStep(adam)).step).toBe(1)
  })

  it('goes on from saved weights with the moments that it has, where they are to be kept', async () => {
    const trainer = inProcessTrainer({ model, trained, shards: 2, budget: 8 }).trainer
    await steps(trainer, 2)
    const state = await trainer.saveState()
    await trainer.loadWeights(await trainer.saveWeights(), 'keep')
    expect(await trainer.saveState()).toEqual(state)
    await steps(trainer, 1)
    const after = await trainer.saveState()
    await trainer.loadState(state)
    await steps(trainer, 1)
    expect(await trainer.saveState()).toEqual(after)
  })
})

describe('a trainer', () => {
  it('begins LoRA as the base model', async () => {
    const [adapted, base] = [inProcessTrainer({ model, trained: lora }), inProcessTrainer({ model, trained: full })]
    const [a, b] = [await adapted.trainer.forwardBackward(data, sft), await base.trainer.forwardBackward(data, sft)]
    expect(relativeError(a.logprobs.flat(), b.logprobs.flat())).toBeLessThan(1e-6)
  })

  it('reports a fresh sample as on-policy: the gradient of importance sampling is that of the policy', async () => {
    const { trainer } = inProcessTrainer({ model, trained: lora })
    const fresh = (await trainer.forwardBackward(data, sft)).logprobs
    await trainer.optimStep({ learningRate: 0 })
    const sampled = data.map((datum, i) => ({ ...datum, logprobs: fresh[i]! }))
    const { loss } = await trainer.forwardBackward(sampled, { kind: 'importance_sampling' })
    const expected = -data
      .flatMap(({ weights, advantages }) => advantages!.map((a, t) => a * weights![t]!))
      .reduce((a, b) => a + b)
    expect(loss).toBeCloseTo(expected, 4)
  })

  it('clips the global norm: a step under a tight clip is a step of the scaled gradient', async () => {
    const { trainer } = inProcessTrainer({ model, trained: lora })
    await trainer.forwardBackward(data, sft)
    const { gradNorm } = await trainer.optimStep({ learningRate: 1e-3, gradClipNorm: 0.1 })
    expect(gradNorm).toBeGreaterThan(0.1)
    const second = inProcessTrainer({ model, trained: lora }).trainer
    const scaled = data.map((datum) => ({ ...datum, weights: datum.weights!.map((w) => (w * 0.1) / gradNorm) }))
    await second.forwardBackward(scaled, sft)
    expect((await second.optimStep({ learningRate: 1e-3 })).gradNorm).toBeCloseTo(0.1, 4)
  })

  it('refuses a loss that it does not know, and changes nothing', async () => {
    const { trainer, shards } = inProcessTrainer({ model, trained: lora })
    const unknown = { kind: 'dpo' } as unknown as typeof sft
    await expect(trainer.forwardBackward(data, unknown)).rejects.toMatchObject({ code: 'model/invalid-loss' })
    expect(await shards[0]!.takeGradient()).toBeNull()
  })

  it('publishes the weights as they are now, and later steps do not change them', async () => {
    const { trainer, published } = inProcessTrainer({ model, trained: lora })
    expect(await trainer.publish()).toEqual({ kind: 'adapter', id: '1' })
    const before = structuredClone(published[0])
    await steps(trainer, 2)
    await trainer.publish()
    expect(published[0]).toEqual(before)
    expect(published[1]).not.toEqual(before)
    expect(published[1]).toMatchObject({ kind: 'lora', adapter: { rank: 4, alpha: 8 } })
  })

  it('runs concurrent calls in the order they were made', async () => {
    const together = inProcessTrainer({ model, trained: lora, shards: 2 }).trainer
    await Promise.all([
      together.forwardBackward(data, sft),
      together.optimStep(adam),
      together.forwardBackward(data, sft),
      together.optimStep(adam),
    ])
    const inTurn = inProcessTrainer({ model, trained: lora, shards: 2 }).trainer
    await steps(inTurn, 2)
    expect(await together.saveState()).toEqual(await inTurn.saveState())
  })

  it('takes weights below 0, which make a target less likely', async () => {
    const { trainer } = inProcessTrainer({ model, trained: lora })
    const unwanted = data.map((datum) => ({ ...datum, weights: datum.weights!.map((weight) => -weight) }))
    const { loss } = await trainer.forwardBackward(unwanted, sft)
    await trainer.optimStep({ learningRate: 0.003 })
    expect(loss).toBeLessThan(0)
    expect((await trainer.forwardBackward(unwanted, sft)).loss).toBeLessThan(loss)
  })

  it('accepts data without a loss, whose step has no gradient', async () => {
    const { trainer } = inProcessTrainer({ model, trained: lora })
    const silent = { input: [1, 2], target: [2, 3], weights: [0, 0] }
    expect(await trainer.forwardBackward([silent], sft)).toMatchObject({ loss: 0, logprobs: [[0, 0]] })
    expect(await trainer.optimStep(adam)).toEqual({ gradNorm: 0, anchorPenalty: 0, step: 1 })
  })
})

describe('bad input', () => {
  it('goes on where a ratio is past the range of float32 and its token does nothing', async () => {
    const { trainer } = inProcessTrainer({ model, trained: lora })
    const absurd = (advantage: number) =>
      data.map((datum) => ({
        ...datum,
        logprobs: datum.input.map(() => -1000),
        advantages: datum.input.map(() => advantage),
      }))
    for (const advantage of [1, 1e-50]) {
      const { loss } = await trainer.forwardBackward(absurd(advantage), { kind: 'ppo' })
      expect(Number.isFinite(loss)).toBe(true)
      expect(await trainer.optimStep(adam)).toMatchObject({ gradNorm: 0 })
    }
    await trainer.forwardBackward(absurd(1e-50), { kind: 'importance_sampling' })
    expect(await trainer.optimStep(adam)).toMatchObject({ gradNorm: 0 })
  })

  it('a gradient that overflows is dropped, and the weights survive it', async () => {
    const { trainer } = inProcessTrainer({ model, trained: lora, shards: 2, budget: 8 })
    await steps(trainer, 1)
    const before = await trainer.saveState()
    const absurd = data.map((datum) => ({ ...datum, logprobs: datum.input.map(() => -1000) }))
    await trainer.forwardBackward(absurd, { kind: 'importance_sampling' })
    await expect(trainer.optimStep(adam)).rejects.toMatchObject({ code: 'model/non-finite-gradient' })
    expect(await trainer.saveState()).toEqual(before)
    await steps(trainer, 1)
  })

  const { trainer } = inProcessTrainer({ model, trained: lora })
  const good = { input: [1, 2], target: [2, 3], logprobs: [0, -1], advantages: [0, 1] }

  it.each([
    [{ ...good, target: [2] }, /target has 1 entries for 2 tokens/],
    [{ ...good, input: [1, 50] }, /input\[1\] is 50/],
    [{ ...good, target: [-1, 3] }, /target\[0\] is -1/],
    [{ input: [1], target: [2], advantages: [1] }, /ppo needs logprobs/],
    [{ ...good, advantages: [0, Number.NaN] }, /advantages\[1\] is NaN/],
    [{ ...good, logprobs: [0, -1e300] }, /logprobs\[1\] is -1e\+300/],
    [{ ...good, input: Array(65).fill(1) }, /65 tokens exceed/],
  ])('datum %# is refused, and says what is wrong', async (datum, message) => {
    await expect(trainer.forwardBackward([good, datum], { kind: 'ppo' })).rejects.toThrow(message)
    await expect(trainer.forwardBackward([good, datum], { kind: 'ppo' })).rejects.toMatchObject({
      code: 'model/invalid-datum',
    })
  })

  it.each([{ temperature: 0 }, { clipLow: 1.2, clipHigh: 0.8 }])('a loss with %o is refused', async (settings) => {
    await expect(trainer.forwardBackward([good], { kind: 'ppo', ...settings })).rejects.toMatchObject({
      code: 'model/invalid-loss',
    })
  })

  it('a state between backward and step cannot be saved', async () => {
    const { trainer } = inProcessTrainer({ model, trained: lora })
    await trainer.forwardBackward(data, sft)
    await expect(trainer.saveState()).rejects.toMatchObject({ code: 'model/gradient-pending' })
  })

  it('a state leaves a gradient out where it is told to, and the gradient stays', async () => {
    const { trainer } = inProcessTrainer({ model, trained: lora })
    const before = await trainer.saveState()
    await trainer.forwardBackward(data, sft)
    expect(await trainer.saveState('left out')).toEqual(before)
    expect((await trainer.optimStep({ learningRate: 0.01 })).gradNorm).toBeGreaterThan(0)
  })

  it('weights and states of another kind of training are refused, and nothing changes', async () => {
    const { trainer } = inProcessTrainer({ model, trained: lora })
    const other = inProcessTrainer({ model, trained: { ...lora, rank: 2 } }).trainer
    const before = await trainer.saveState()
    await expect(trainer.loadWeights(await other.saveWeights())).rejects.toThrow(/rank 2.*rank 4/)
    await expect(trainer.loadState(await other.saveState())).rejects.toThrow(/rank 2.*rank 4/)
    await expect(trainer.loadState(await trainer.saveWeights())).rejects.toMatchObject({ code: 'model/state-mismatch' })
    await expect(trainer.loadWeights(before.slice(0, 100))).rejects.toMatchObject({
      code: 'model/malformed-safetensors',
    })
    expect(await trainer.saveState()).toEqual(before)
  })
})
