import { describe, expect, it } from 'vitest'
import type { Datum } from '../../../core/index.ts'
import { gradientOf, inProcessTrainer } from '../../../../test/support/in-process-trainer.ts'
import { recorded, recordedAdapter, recordedModel, relativeError, unpack } from '../../../../test/support/recorded.ts'
import { type LossKind, tokenLosses } from '../loss/index.ts'
import { flatten } from '../train/flat-tensors.ts'
import { LoraTarget, loraShapes } from '../train/lora.ts'
import type { TransformerConfig } from './config.ts'
import type { Trained } from './trained.ts'
import { trainingGraph } from './training-graph.ts'

interface Run {
  readonly loss: number
  readonly logprobs: readonly string[]
  readonly old: readonly string[]
  readonly gradients: Record<string, string>
}
interface LlamaVectors {
  readonly config: TransformerConfig
  readonly tokens: number[]
  readonly tied: Run & { readonly logits: string }
  readonly untied: Run & { readonly logits: string }
}
interface LossVectors {
  readonly rank: number
  readonly alpha: number
  readonly temperature: number
  readonly data: (Datum & { weights: number[]; advantages: number[] })[]
  readonly lora: Record<LossKind, Run>
}

const llama = recorded('llama') as LlamaVectors
const losses = recorded('losses') as LossVectors

describe.each(['tied', 'untied'] as const)('a model with %s head', (head) => {
  const expected = llama[head]
  const config = { ...llama.config, tiedHead: head === 'tied' }
  const model = recordedModel(config)

  it('gives the logits of PyTorch, up to the constant that softmax ignores', async () => {
    const { trainer } = inProcessTrainer({ model, trained: { kind: 'full' } })
    const everyTarget = Array.from({ length: config.vocabSize }, (_, token) => ({
      input: llama.tokens,
      target: llama.tokens.map(() => token),
    }))
    const { logprobs, tokens } = await trainer.forwardBackward(everyTarget, { kind: 'cross_entropy' })
    expect(tokens.computed).toBe(llama.tokens.length)
    const logits = unpack(expected.logits)
    for (const position of llama.tokens.keys()) {
      const row = logits.subarray(position * config.vocabSize, (position + 1) * config.vocabSize)
      const logSumExp = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0))
      const found = logprobs.map((ofTarget) => ofTarget[position]!)
      expect(
        relativeError(
          found,
          row.map((logit) => logit - logSumExp),
        ),
      ).toBeLessThan(2e-6)
    }
  })

  it('gives the loss and every gradient of PyTorch in full training', async () => {
    const { result, gradient } = await gradientOf({ model, trained: { kind: 'full' } }, losses.data, {
      kind: 'cross_entropy',
    })
    expect(result.loss).toBeCloseTo(expected.loss, 4)
    for (const [name, recordedGradient] of Object.entries(expected.gradients)) {
      expect(relativeError(gradient.view(name), unpack(recordedGradient)), name).toBeLessThan(1e-5)
    }
  })
})

describe.each(Object.keys(tokenLosses) as LossKind[])('LoRA under %s', (kind) => {
  it('gives the loss, log-probabilities and every gradient of PyTorch', async () => {
    const model = recordedModel(llama.config)
    const { tensors, ...lora } = recordedAdapter(llama.config, losses.rank, losses.alpha)
    const expected = losses.lora[kind]
    const data = losses.data.map((datum, index) => ({ ...datum, logprobs: [...unpack(expected.old[index]!)] }))
    const loss = kind === 'cross_entropy' ? { kind } : { kind, temperature: losses.temperature }
    const { result, gradient } = await gradientOf(
      { model, trained: { kind: 'lora', ...lora }, values: flatten(loraShapes(llama.config, lora), tensors) },
      data,
      loss,
    )
    expect(result.loss).toBeCloseTo(expected.loss, 4)
    for (const [index, logprobs] of expected.logprobs.entries()) {
      const { weights, advantages } = losses.data[index]!
      const counted = unpack(logprobs).map((value, t) => (weights[t]! !== 0 && advantages[t]! !== 0 ? value : 0))
      expect(relativeError(result.logprobs[index]!, counted)).toBeLessThan(2e-6)
    }
    for (const [name, recordedGradient] of Object.entries(expected.gradients)) {
      expect(relativeError(gradient.view(name), unpack(recordedGradient)), name).toBeLessThan(1e-5)
    }
  })
})

describe('training graphs', () => {
  const lora: Trained = { kind: 'lora', rank: 2, alpha: 4, targets: LoraTarget.options }
  const graphs = [lora, { kind: 'full' } as const, { kind: 'prompt', length: 3 } as const].map((trained) =>
    trainingGraph({ config: llama.config, trained }),
  )

  it('never use ScatterND, whose sums race between threads', () => {
    for (const graph of graphs) {
      const operators = graph.toOnnx().nodes.map(({ operator }) => operator)
      expect(operators).toContain('ScatterElements')
      expect(operators, graph.name).not.toContain('ScatterND')
    }
  })

  it('hold no gradient of a frozen weight', () => {
    for (const graph of graphs.filter(({ name }) => name.startsWith('lora'))) {
      const outputs = graph.toOnnx().outputs.map(({ name }) => name)
      expect(outputs.filter((name) => name.startsWith('gradient of ')).every((name) => name.includes('lora_'))).toBe(
        true,
      )
    }
    for (const graph of graphs.filter(({ name }) => name.startsWith('prompt'))) {
      const outputs = graph.toOnnx().outputs.map(({ name }) => name)
      expect(outputs).toEqual(['logprobs', 'loss', 'gradient of prompt_embeddings'])
    }
  })
})
