import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import type { Datum } from '../src/core/trainer.ts'
import type { TransformerConfig } from '../src/model/embedded/transformer/config.ts'
import { inProcessTrainer } from './support/in-process-trainer.ts'
import { numbers, recordedModel } from './support/recorded.ts'

const config: TransformerConfig = {
  vocabSize: 512,
  hiddenSize: 64,
  intermediateSize: 128,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 16,
  ropeTheta: 10000,
  rmsNormEps: 1e-5,
  maxPositions: 256,
  tiedHead: true,
}

/** Data of another size at every step, as rollouts are. */
function dataOf(step: number): Datum[] {
  const random = numbers(step, 8)
  return [...random].map((value, index) => {
    const length = 20 + Math.floor((value + 1) * 40)
    const tokens = [...numbers(step * 8 + index, length + 1)].map((x) => Math.floor((x + 1) * 256) % 512)
    return { input: tokens.slice(0, -1), target: tokens.slice(1) }
  })
}

it('keeps memory flat over 500 training steps of changing shapes', async () => {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  const resident = () => {
    collect()
    return process.memoryUsage().rss / 2 ** 20
  }
  const trained = { kind: 'lora', rank: 4, alpha: 8, targets: ['q', 'v', 'down'] } as const
  const { trainer } = inProcessTrainer({ model: recordedModel(config), trained, budget: 300 })
  const train = async (from: number, to: number) => {
    for (let step = from; step < to; step++) {
      await trainer.forwardBackward(dataOf(step), { kind: 'cross_entropy' })
      await trainer.optimStep({ learningRate: 1e-4 })
    }
  }
  await train(0, 100)
  const warm = resident()
  await train(100, 500)
  // One step's activations are about 10 MB: a leak of any of them would be gigabytes.
  expect(resident() - warm).toBeLessThan(40)
})
