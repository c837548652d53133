import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recorded, recordedModel } from '../../../../test/support/recorded.ts'
import type { AdapterRef } from '../../../core/index.ts'
import { type EmbeddedEngine, openEmbeddedEngine } from '../engine.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import type { AttentionMemory } from './attention-memory.ts'
import type { MemoryTrainer } from './memory-trainer.ts'

const { config } = recorded('llama') as { config: TransformerConfig }
const model = recordedModel(config)
const decode = (tokens: readonly number[]) => tokens.join(' ')
const document = Array.from({ length: 40 }, (_, i) => (i * i * 3 + 7 * i) % config.vocabSize)
const memory = { layer: 1, neighbours: 4, queries: { rank: 2, alpha: 4 } }
const prompt = [3, 14, 15, 9]

describe.each([{ workers: 2 }, { deterministic: true }])('an engine with $workers workers and a memory', (options) => {
  let engine: EmbeddedEngine
  let trainer: MemoryTrainer
  let filled: AttentionMemory
  let weights: Uint8Array
  let reference: AdapterRef

  beforeAll(async () => {
    engine = await openEmbeddedEngine({ model, decode, threadsPerWorker: 1, ...options })
    trainer = await engine.memoryTrainer({ memory, seed: 1 })
    filled = trainer.newMemory(32)
    filled.append(await trainer.collect(document))
    const data = [{ input: document.slice(0, 12), target: document.slice(1, 13) }]
    for (let step = 0; step < 12; step++) {
      await trainer.forwardBackward(data, { kind: 'cross_entropy' }, filled)
      await trainer.optimStep({ learningRate: 0.2 })
    }
    weights = await trainer.saveWeights()
    reference = await engine.loadMemory(weights, filled)
  })
  afterAll(() => engine.close())

  const sample = async (adapter: AdapterRef | null, samples = 1, maxTokens = 20) =>
    engine.sampler.sample({ prompt, adapter, params: { maxTokens, seed: 5 }, samples })

  /** What the trainer says of sampled tokens. */
  const scored = async (tokens: readonly number[], recall: AttentionMemory | null) => {
    const input = [...prompt, ...tokens.slice(0, -1)]
    const target = [...prompt.slice(1), ...tokens]
    const [logprobs] = await trainer.forward([{ input, target }], recall)
    return logprobs!.slice(prompt.length - 1)
  }

  const furthest = (found: readonly number[], expected: readonly number[]) =>
    Math.max(...found.map((value, i) => Math.abs(value - expected[i]!)))

  it('samples with the log-probabilities of its trainer, several sequences at once', async () => {
    expect(filled.length).toBe(32)
    for (const { tokens, logprobs } of await sample(reference, 5)) {
      expect(furthest(logprobs, await scored(tokens, filled))).toBeLessThan(1e-4)
      expect(furthest(logprobs, await scored(tokens, null))).toBeGreaterThan(1e-2)
    }
  })

  it('samples from the base beside it, as without', async () => {
    const alone = await sample(null)
    const [[base]] = await Promise.all([sample(null), sample(reference)])
    expect(base!.tokens).toEqual(alone[0]!.tokens)
  })

  it('repeats itself, and keeps to the memory that it was loaded with', async () => {
    const [first] = await sample(reference)
    filled.append({ length: 1, keys: new Float32Array(8), values: new Float32Array(8) })
    const [again] = await sample(reference)
    expect(again!.tokens).toEqual(first!.tokens)
  })

  it('is its LoRA alone with an empty memory', async () => {
    const empty = await engine.loadMemory(weights, trainer.newMemory(10))
    const [sequence] = await sample(empty)
    expect(furthest(sequence!.logprobs, await scored(sequence!.tokens, null))).toBeLessThan(1e-4)
    await engine.sampler.unload(empty)
  })

  it('refuses a memory of another layer, and a layer that the model does not have', async () => {
    const other = await engine.memoryTrainer({ memory: { layer: 0, neighbours: 2 }, seed: 1 })
    await expect(engine.loadMemory(weights, other.newMemory(4))).rejects.toMatchObject({ code: 'model/state-mismatch' })
    await expect(engine.loadMemory(await other.saveWeights(), filled)).rejects.toThrow(/layer 1/)
    await other.close()
    const wrong = engine.memoryTrainer({ memory: { layer: 2, neighbours: 2 }, seed: 1 })
    await expect(wrong).rejects.toMatchObject({ code: 'model/invalid-attention-memory' })
    const none = engine.memoryTrainer({ memory: { layer: 0, neighbours: 0 }, seed: 1 })
    await expect(none).rejects.toMatchObject({ code: 'model/invalid-attention-memory' })
    const ajar = engine.memoryTrainer({ memory: { layer: 0, neighbours: 1 }, seed: 1, gate: 1 })
    await expect(ajar).rejects.toMatchObject({ code: 'model/invalid-attention-memory' })
  })
})
