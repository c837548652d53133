import { afterAll, beforeAll, expect, it } from 'vitest'
import { inProcessTrainer } from '../../../test/support/in-process-trainer.ts'
import { numbers, recorded, recordedModel } from '../../../test/support/recorded.ts'
import type { Datum } from '../../core/index.ts'
import { type EmbeddedEngine, openEmbeddedEngine } from './engine.ts'
import type { TransformerConfig } from './transformer/config.ts'

const { data, config } = recorded('losses') as { data: Datum[]; config: TransformerConfig }
const model = recordedModel(config)
const length = 5
const sft = { kind: 'cross_entropy' } as const

let engine: EmbeddedEngine
beforeAll(async () => {
  engine = await openEmbeddedEngine({
    model,
    decode: (tokens) => tokens.join(' '),
    vocabulary: () => Array.from({ length: config.vocabSize }, (_, token) => Uint8Array.of(48 + token)),
    workers: 1,
    threadsPerWorker: 1,
  })
})
afterAll(() => engine.close())

it('auxiliary targets behind a soft prompt stay with their tokens', async () => {
  const values = numbers(7000, length * config.hiddenSize, 0.4)
  const { trainer } = inProcessTrainer({ model, trained: { kind: 'prompt', length }, values })
  await trainer.auxiliary?.attach(2)
  const told = data.map((datum) => ({
    ...datum,
    auxiliary: {
      targets: datum.input.map((token) => [token, 1]),
      weights: datum.input.map((_, t) => t + 1),
    },
  }))
  const { auxiliaryLoss } = await trainer.forwardBackward(told, sft)
  // A new head says 0: its loss is the mean square of the targets.
  const expected = data.flatMap(({ input }) => input.map((token, t) => ((t + 1) * (token * token + 1)) / 2))
  expect(auxiliaryLoss).toBeCloseTo(
    expected.reduce((sum, one) => sum + one, 0),
    1,
  )
})

it('a datastore reads texts behind a soft prompt, as its trainer does', async () => {
  const trainer = await engine.trainer({ method: { kind: 'prompt', length }, seed: 3 })
  const adapter = await trainer.publish()
  const text = [...data[0]!.input, data[0]!.target.at(-1)!]
  const { logprobs } = await engine.datastores.read(text, { adapter })
  const [expected] = await trainer.forward([{ input: text.slice(0, -1), target: text.slice(1) }])
  expect(logprobs).toHaveLength(expected!.length)
  for (const [t, logprob] of expected!.entries()) expect(logprobs[t]).toBeCloseTo(logprob, 4)
  const base = await engine.datastores.read(text)
  expect(Math.abs(base.logprobs[0]! - logprobs[0]!)).toBeGreaterThan(1e-3)

  const datastore = await engine.datastores.build([text], { adapter })
  const ref = await engine.datastores.load(datastore)
  const nearest = { datastore: ref, weight: 1, neighbours: 1, temperature: 1 }
  const [sequence] = await engine.sampler.sample({
    prompt: text.slice(0, 2),
    adapter,
    params: { maxTokens: text.length - 2, temperature: 0, nearest },
  })
  expect(sequence!.tokens).toEqual(text.slice(2))
  await trainer.close()
})

it('refuses a grammar and a datastore in one request', async () => {
  const datastore = await engine.datastores.load(await engine.datastores.build([[1, 2, 3]]))
  const nearest = { datastore, weight: 0.5, neighbours: 1, temperature: 1 }
  const params = { maxTokens: 4, stopTokens: [2], grammar: { kind: 'json-schema', schema: {} } as never, nearest }
  await expect(engine.sampler.sample({ prompt: [1], adapter: null, params })).rejects.toMatchObject({
    code: 'model/invalid-sample-request',
  })
})
