import { describe, expect, it } from 'vitest'
import { recorded, recordedAdapter, recordedModel, unpack } from '../../../../test/support/recorded.ts'
import { KvGrid } from '../sampling/kv.ts'
import { StepRunner } from '../sampling/step.ts'
import { WeightSets } from '../sampling/weight-sets.ts'
import type { TransformerConfig } from './config.ts'

const llama = recorded('llama') as Record<'tied' | 'untied', { logits: string }> & {
  config: TransformerConfig
  tokens: number[]
}
const tokens = Int32Array.from(llama.tokens)
const runner = new StepRunner({ deterministic: false })

/** Log-probabilities after every token, when the tokens are fed in runs of these lengths, at a temperature. */
async function logprobsOf(
  sets: WeightSets,
  config: TransformerConfig,
  adapter: string | null,
  lengths: number[],
  temperature = 1,
) {
  const past = new KvGrid(config)
  const rows: number[][] = []
  let start = 0
  for (const count of lengths) {
    past.grow(1, Math.max(start + count, 1), 1)
    const spans = [{ tokens, start, count }]
    const last = count === 1 ? { temperatures: Float32Array.of(temperature) } : {}
    const result = await runner.run({ weights: sets.get(adapter), spans, width: count, past, ...last })
    for (let layer = 0; layer < config.layers; layer++) {
      for (const kind of ['key', 'value'] as const) past.append(layer, kind, result.newRows(layer, kind), spans, count)
    }
    if (count === 1) {
      const correction = result.corrections[0]!
      rows.push(Array.from(result.probabilities, (p) => temperature * Math.log(p) + correction))
    }
    start += count
  }
  return rows
}

function expectClose(found: readonly number[], expected: ArrayLike<number>, tolerance: number) {
  expect(found.length).toBe(expected.length)
  found.forEach((value, index) => expect(Math.abs(value - expected[index]!)).toBeLessThan(tolerance))
}

describe.each(['tied', 'untied'] as const)('a model with %s head', (head) => {
  const config = { ...llama.config, tiedHead: head === 'tied' }
  const model = recordedModel(config)
  const logits = unpack(llama[head].logits)
  const expected = llama.tokens.map((_, position) => {
    const row = logits.subarray(position * config.vocabSize, (position + 1) * config.vocabSize)
    const logSum = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0))
    return row.map((logit) => logit - logSum)
  })
  const open = () => WeightSets.open({ model, contextLength: 64, threads: 1 })

  it('gives the distributions of PyTorch, token by token over the cache', async () => {
    const rows = await logprobsOf(
      await open(),
      config,
      null,
      llama.tokens.map(() => 1),
    )
    rows.forEach((row, position) => expectClose(row, expected[position]!, 2e-5))
  })

  it('gives them after a prompt in pieces', async () => {
    const sets = await open()
    for (const lengths of [
      [6, 1],
      [2, 4, 1],
      [1, 3, 2, 1],
    ]) {
      const rows = await logprobsOf(sets, config, null, lengths)
      expectClose(rows.at(-1)!, expected.at(-1)!, 2e-5)
    }
  })

  it('gives the log-probability at temperature 1 whatever the temperature', async () => {
    const sets = await open()
    for (const temperature of [0.5, 0.8, 1.7]) {
      const rows = await logprobsOf(sets, config, null, [6, 1], temperature)
      expectClose(rows.at(-1)!, expected.at(-1)!, 5e-5)
    }
  })

  it('gives the same when the weights are fed', async () => {
    const sets = await open()
    await sets.load('copy', { kind: 'full', model })
    const rows = await logprobsOf(sets, config, 'copy', [6, 1])
    expectClose(rows.at(-1)!, expected.at(-1)!, 2e-5)
  })
})

describe('adapters', () => {
  const { config } = llama
  const model = recordedModel(config)
  const adapter = recordedAdapter(config, 3, 5)

  it('is the base bit for bit when every B is zero, and not otherwise', async () => {
    const sets = await WeightSets.open({ model, contextLength: 64, threads: 1 })
    const zeroed = [...adapter.tensors].map(
      ([name, values]) => [name, name.includes('lora_B') ? values.map(() => 0) : values] as const,
    )
    await sets.load('zero', { kind: 'lora', adapter: { ...adapter, tensors: new Map(zeroed) } })
    await sets.load('some', { kind: 'lora', adapter })
    const base = await logprobsOf(sets, config, null, [6, 1])
    expect(await logprobsOf(sets, config, 'zero', [6, 1])).toEqual(base)
    expect(await logprobsOf(sets, config, 'some', [6, 1])).not.toEqual(base)
  })

  it.each([[['q', 'v']], [['k', 'o', 'lm_head']], [['up', 'down']], [['gate']]] as const)(
    'equals the merged weights with targets %s',
    async (targets) => {
      const sets = await WeightSets.open({ model, contextLength: 64, threads: 1 })
      const some = { ...adapter, targets: [...targets] }
      await sets.load('pairs', { kind: 'lora', adapter: some })
      await sets.load('merged', { kind: 'full', model: merged(model, some) })
      const pairs = await logprobsOf(sets, config, 'pairs', [6, 1])
      const whole = await logprobsOf(sets, config, 'merged', [6, 1])
      // An adapted head is untied: only the pairs can express it.
      if (!targets.includes('lm_head' as never)) expectClose(pairs[0]!, whole[0]!, 5e-5)
      else expect(pairs).not.toEqual(whole)
    },
  )
})

/** W + (alpha / rank) · B · A for every adapted matrix of the blocks. */
function merged(
  model: ReturnType<typeof recordedModel>,
  { rank, alpha, targets, tensors }: ReturnType<typeof recordedAdapter>,
) {
  const weights = new Map([...model.tensors].map(([name, values]) => [name, values.slice()]))
  for (const [name, a] of tensors) {
    const module = name.replace('.lora_A.weight', '')
    const target = /\.(\w+)_proj$/.exec(module)?.[1]
    const weight = weights.get(`${module}.weight`)
    if (!name.includes('lora_A') || !weight || !targets.includes(target as never)) continue
    const b = tensors.get(`${module}.lora_B.weight`)!
    const width = a.length / rank
    weight.forEach((value, index) => {
      const [row, column] = [Math.floor(index / width), index % width]
      let sum = 0
      for (let r = 0; r < rank; r++) sum += b[row * rank + r]! * a[r * width + column]!
      weight[index] = value + (alpha / rank) * sum
    })
  }
  return { config: model.config, tensors: weights }
}
