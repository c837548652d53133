import { describe, expect, it } from 'vitest'
import { architectures, filled, recordedArchitectures } from '../../../../test/support/architectures.ts'
import { engineRows } from '../../../../test/support/engine-rows.ts'
import { gradientOf, inProcessTrainer } from '../../../../test/support/in-process-trainer.ts'
import { relativeError, unpack } from '../../../../test/support/recorded.ts'
import { type AdapterWeights, type LoraConfig, loraShapes } from '../train/lora.ts'
import { flatten } from '../train/flat-tensors.ts'
import { TransformerConfig } from './config.ts'
import { projections } from './weights.ts'

const { sequences, rank, alpha } = architectures
const lora: LoraConfig = { rank, alpha, targets: projections }
const data = sequences.map((tokens) => ({ input: tokens.slice(0, -1), target: tokens.slice(1) }))
const prefix = 'base_model.model.'

/** A config without one of its departures from Llama, by the departure's name. */
function withoutDepartures(config: TransformerConfig): [string, TransformerConfig][] {
  const { rope, ...sliding } = config.sliding ?? {}
  const without = departures
    .filter((field) => field in config)
    .map((field): [string, TransformerConfig] => {
      const { [field]: _, ...rest } = config
      return [field, rest]
    })
  return rope ? [...without, ['sliding.rope', TransformerConfig.parse({ ...config, sliding })]] : without
}

const departures = [
  'ropeScaling',
  'biases',
  'qkNorm',
  'postNorms',
  'normOffset',
  'activation',
  'embeddingScale',
  'attentionScale',
  'sliding',
] as const

/** Log-probabilities at every position from recorded logits. */
function logprobs(packed: string, vocabulary: number): number[][] {
  const logits = unpack(packed)
  return Array.from({ length: logits.length / vocabulary }, (_, position) => {
    const row = Array.from(logits.subarray(position * vocabulary, (position + 1) * vocabulary))
    const logSum = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0))
    return row.map((logit) => logit - logSum)
  })
}

function furthest(found: readonly (readonly number[])[], expected: readonly (readonly number[])[]): number {
  expect(found.length).toBe(expected.length)
  return Math.max(
    ...found.flatMap((row, position) => row.map((value, token) => Math.abs(value - expected[position]![token]!))),
  )
}

describe.each(recordedArchitectures)('$name', ({ config, tensors, recorded }) => {
  const model = { config, tensors }
  const expected = recorded.logits.map((logits) => logprobs(logits, config.vocabSize))
  const adapter: AdapterWeights = {
    ...lora,
    tensors: new Map(
      [...filled(new Map([...loraShapes(config, lora)].map(([name, shape]) => [prefix + name, shape])), 5000)].map(
        ([name, values]) => [name.slice(prefix.length), values],
      ),
    ),
  }

  it('samples with the distributions of transformers, token by token over the cache', async () => {
    const [first = []] = await engineRows({ model, sequences: [sequences[0]!] })
    expect(furthest(first, expected[0]!)).toBeLessThan(1e-5)
  })

  it('samples with them after prompts in pieces, beside another of another length', async () => {
    for (const runs of [
      [
        [12, 9],
        [1, 1],
      ],
      [
        [2, 7],
        [9, 3],
        [5, 2],
        [1, 1],
      ],
    ]) {
      const rows = await engineRows({ model, sequences, runs })
      rows.forEach((found, sequence) => {
        const ends = runs.map((_, run) => runs.slice(0, run + 1).reduce((sum, counts) => sum + counts[sequence]!, 0))
        expect(
          furthest(
            found,
            ends.map((end) => expected[sequence]![end - 1]!),
          ),
        ).toBeLessThan(1e-5)
      })
    }
  })

  it.each(withoutDepartures(config))('hangs on %s', async (_, without) => {
    const plain = { model: { config: without, tensors }, sequences: [sequences[0]!] }
    const [sampled = []] = await engineRows(plain)
    expect(furthest(sampled, expected[0]!)).toBeGreaterThan(1e-2)
    const { trainer } = inProcessTrainer({ ...plain, trained: { kind: 'full' } })
    const [trained = []] = await trainer.forward(data.slice(0, 1))
    const wanted = data[0]!.target.map((token, t) => sampled[t]![token]!)
    expect(furthest([trained], [wanted])).toBeLessThan(1e-5)
    await trainer.close()
  })

  it('samples with an adapter as peft does', async () => {
    const [first = []] = await engineRows({ model, adapter, sequences: [sequences[0]!] })
    expect(furthest(first, logprobs(recorded.lora.logits[0]!, config.vocabSize))).toBeLessThan(1e-5)
  })

  it('trains with the log-probabilities of transformers, sharing a prefix or not', async () => {
    for (const share of [true, false]) {
      const { trainer } = inProcessTrainer({ model, trained: { kind: 'full' }, share })
      const found = await trainer.forward(data)
      const wanted = data.map(({ target }, index) => target.map((token, t) => expected[index]![t]![token]!))
      expect(furthest(found, wanted)).toBeLessThan(1e-5)
      await trainer.close()
    }
  })

  it('gives every gradient of transformers in full training', async () => {
    const { result, gradient } = await gradientOf({ model, trained: { kind: 'full' } }, data, { kind: 'cross_entropy' })
    expect(result.loss).toBeCloseTo(recorded.full.loss, 3)
    expect([...gradient.shapes.keys()].toSorted()).toEqual(Object.keys(recorded.full.gradients).toSorted())
    for (const [name, packed] of Object.entries(recorded.full.gradients)) {
      expect(relativeError(gradient.view(name), unpack(packed)), name).toBeLessThan(2e-5)
    }
  })

  it('gives every gradient of peft over an adapter', async () => {
    const trained = { kind: 'lora', ...lora } as const
    const values = flatten(loraShapes(config, lora), adapter.tensors)
    const { result, gradient } = await gradientOf({ model, trained, values }, data, { kind: 'cross_entropy' })
    expect(result.loss).toBeCloseTo(recorded.lora.loss, 3)
    expect([...gradient.shapes.keys()].map((name) => prefix + name).toSorted()).toEqual(
      Object.keys(recorded.lora.gradients).toSorted(),
    )
    for (const [name, packed] of Object.entries(recorded.lora.gradients)) {
      expect(relativeError(gradient.view(name.slice(prefix.length)), unpack(packed)), name).toBeLessThan(2e-5)
    }
  })
})
