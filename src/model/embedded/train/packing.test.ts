import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gradientOf } from '../../../../test/support/in-process-trainer.ts'
import { recordedModel, relativeError } from '../../../../test/support/recorded.ts'
import type { Datum, Loss } from '../../../core/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { type PackingOptions, pack } from './packing.ts'

const config: TransformerConfig = {
  vocabSize: 50,
  hiddenSize: 16,
  intermediateSize: 24,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  ropeTheta: 10000,
  rmsNormEps: 1e-5,
  maxPositions: 64,
  tiedHead: true,
}

/** Data over three tokens, so that prefixes of many lengths are shared, and some data are prefixes of others. */
const datum: fc.Arbitrary<Datum> = fc
  .array(fc.record({ token: fc.nat(2), target: fc.nat(49), weight: fc.constantFrom(0, 1, 0.5) }), {
    minLength: 1,
    maxLength: 24,
  })
  .map((steps) => ({
    input: steps.map(({ token }) => token),
    target: steps.map(({ target }) => target),
    weights: steps.map(({ weight }) => weight),
  }))
const data = fc.array(datum, { minLength: 1, maxLength: 12 })
const budget = fc.integer({ min: 1, max: 120 })

/** Data of one group: 32 tokens in common, and up to three of its own each. */
const familyOfData: fc.Arbitrary<Datum[]> = fc
  .array(fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 3 })
  .map((tails) =>
    tails.map((tail) => {
      const input = [...Array.from({ length: 32 }, (_, i) => (i * 7) % 50), ...tail]
      return { input, target: input.map((token) => (token + 1) % 50) }
    }),
  )

const laidOut = (
  data: readonly Datum[],
  options: Omit<PackingOptions, 'config'>,
  loss: Loss['kind'] = 'cross_entropy',
) => pack(data, loss, { config, ...options }).map((planned) => planned.layOut())

/** For every row of every batch: where it came from, and what the grid says it sees. */
function seen(batches: ReturnType<typeof laidOut>) {
  return batches.flatMap(({ batch, origin }) => {
    const { nodes, keys } = batch.shape
    return [...batch.rows.keys()].map((row) => {
      const cell = Number(batch.rows[row])
      const gridRow = Math.floor(cell / nodes)
      const visible = [...Array(keys).keys()]
        .filter((slot) => batch.mask[cell * keys + slot] === 0)
        .map((slot) => Number(batch.keys[gridRow * keys + slot]))
        .map((node) => ({ position: Number(batch.positions[node]), token: Number(batch.tokens[node]) }))
        .sort((a, b) => a.position - b.position)
      return { datum: origin.datum[row]!, position: origin.position[row]!, visible, target: batch.targets[row], cell }
    })
  })
}

describe('tree packing', () => {
  it('shows every target token exactly its own prefix, whatever the data and the budget', () => {
    fc.assert(
      fc.property(data, budget, fc.integer({ min: 1, max: 4 }), fc.boolean(), (data, budget, shards, share) => {
        const rows = seen(laidOut(data, { budget, shards, share }))
        const wanted = data.flatMap(({ weights }, index) =>
          weights!.flatMap((weight, position) => (weight === 0 ? [] : [`${index}:${position}`])),
        )
        expect(rows.map(({ datum, position }) => `${datum}:${position}`).sort()).toEqual(wanted.sort())
        for (const { datum, position, visible, target } of rows) {
          const { input, target: targets } = data[datum]!
          expect(visible).toEqual(input.slice(0, position + 1).map((token, position) => ({ token, position })))
          expect(Number(target)).toBe(targets[position])
        }
      }),
      { numRuns: 200 },
    )
  })

  it('gives the gradient of the unpacked data to 1e-5, whatever the budget and the number of shards', async () => {
    const options = { model: recordedModel(config), trained: { kind: 'full' } as const }
    const loss = { kind: 'cross_entropy' } as const
    await fc.assert(
      fc.asyncProperty(data, budget, fc.integer({ min: 1, max: 3 }), async (data, budget, shards) => {
        fc.pre(data.some(({ weights }) => weights!.some((weight) => weight !== 0)))
        const alone = await gradientOf({ ...options, share: false, budget: 1 }, data, loss)
        const packed = await gradientOf({ ...options, budget, shards }, data, loss)
        expect(relativeError(packed.gradient.values, alone.gradient.values)).toBeLessThan(1e-5)
        expect(relativeError(packed.result.logprobs.flat(), alone.result.logprobs.flat())).toBeLessThan(1e-5)
      }),
      { numRuns: 15 },
    )
  })

  it('computes a shared prompt once: 8 × (300 + 100) tokens are 1,100 nodes', () => {
    const prompt = Array.from({ length: 300 }, (_, i) => i % 50)
    const group = Array.from({ length: 8 }, (_, attempt) => ({
      input: [...prompt, attempt, ...Array.from({ length: 99 }, (_, i) => (i * attempt) % 50)],
      target: Array<number>(400).fill(1),
    }))
    const batches = laidOut(group, { budget: 2000 })
    expect(batches).toHaveLength(1)
    expect(batches[0]!.batch.tokens.length).toBeGreaterThanOrEqual(1100)
    expect(batches[0]!.batch.tokens.length).toBeLessThan(1150)
  })

  it('computes a shared prefix once beyond the budget too: 3 × (1,450 + 150) tokens are 1,900 nodes', () => {
    const prompt = Array.from({ length: 1450 }, (_, i) => (i * i) % 50)
    const group = Array.from({ length: 3 }, (_, attempt) => ({
      input: [...prompt, attempt, ...Array.from({ length: 149 }, (_, i) => (i * attempt) % 50)],
      target: Array<number>(1600).fill(1),
    }))
    const nodes = (shards: number) =>
      pack(group, 'cross_entropy', { config, budget: 1536, shards }).map((planned) => planned.nodes)
    expect(nodes(1)).toEqual([1900])
    // Work is still spread: the second shard computes the prefix again, and both are done sooner.
    expect(nodes(2).toSorted((a, b) => a - b)).toEqual([1600, 1750])
  })

  it('never makes a batch larger than its longest common prefix and half a budget, nor than a single datum', () => {
    fc.assert(
      fc.property(familyOfData, budget, (data, budget) => {
        for (const { batch, origin } of laidOut(data, { budget })) {
          const inputs = [...new Set(origin.datum)].map((index) => data[index]!.input)
          const longest = Math.max(...inputs.map(({ length }) => length))
          const nodes = new Set(inputs.flatMap((input) => input.map((_, i) => input.slice(0, i + 1).join()))).size
          expect(nodes).toBeLessThanOrEqual(Math.max(budget, longest + budget / 2))
          expect(batch.tokens.length).toBeGreaterThan(0)
        }
      }),
    )
  })

  it('gives the gradient of the unpacked data to 1e-5 where data share more than a budget', async () => {
    const options = { model: recordedModel(config), trained: { kind: 'full' } as const }
    const loss = { kind: 'cross_entropy' } as const
    await fc.assert(
      fc.asyncProperty(familyOfData, fc.integer({ min: 18, max: 30 }), async (data, budget) => {
        const alone = await gradientOf({ ...options, share: false, budget: 1 }, data, loss)
        const packed = await gradientOf({ ...options, budget }, data, loss)
        expect(relativeError(packed.gradient.values, alone.gradient.values)).toBeLessThan(1e-5)
        expect(relativeError(packed.result.logprobs.flat(), alone.result.logprobs.flat())).toBeLessThan(1e-5)
        expect(packed.result.tokens?.computed ?? 0).toBeLessThan(Number(alone.result.tokens?.computed))
      }),
      { numRuns: 10 },
    )
  })

  it('does not compute what no loss depends on', () => {
    const tail: Datum = { input: [1, 2, 3, 4, 5, 6], target: [2, 3, 4, 5, 6, 7], weights: [0, 1, 0, 0, 0, 0] }
    const silent: Datum = { ...tail, weights: [0, 0, 0, 0, 0, 0] }
    expect(laidOut([tail, silent], { budget: 100 }).map(({ batch }) => batch.tokens.length)).toEqual([2])
  })

  it('gives a policy loss a row only where there is an advantage', () => {
    const given: Datum = { input: [1, 2, 3], target: [2, 3, 4], logprobs: [0, -1, -1], advantages: [0, 0.5, 0] }
    expect(seen(laidOut([given], { budget: 100 }, 'ppo')).map(({ position }) => position)).toEqual([1])
    expect(seen(laidOut([given], { budget: 100 }))).toHaveLength(3)
  })

  it('makes work for every shard, and keeps batches within the budget', () => {
    const many = Array.from({ length: 40 }, (_, i) => ({ input: [i, 1, 2, 3, 4], target: [1, 2, 3, 4, 5] }))
    expect(laidOut(many, { budget: 1000, shards: 4 })).toHaveLength(4)
    for (const { batch } of laidOut(many, { budget: 17 })) {
      expect(batch.rows.length).toBeLessThanOrEqual(15)
    }
  })
})
