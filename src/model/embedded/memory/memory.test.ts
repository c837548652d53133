import { describe, expect, it } from 'vitest'
import { inProcessTrainer } from '../../../../test/support/in-process-trainer.ts'
import { numbers, recorded, recordedModel, relativeError, unpack } from '../../../../test/support/recorded.ts'
import type { Datum } from '../../../core/index.ts'
import { flatten } from '../train/flat-tensors.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { trainedShapes, type Trained } from '../transformer/trained.ts'
import { forwardGraph, trainingGraph } from '../transformer/training-graph.ts'
import type { MemoryRows } from './attention-memory.ts'
import { type MemoryConfig, gateName, memoryShapes } from './memory-config.ts'
import { MemoryTrainer } from './memory-trainer.ts'
import { originOf } from './memory-origin.ts'

interface Vectors {
  readonly entries: number
  readonly rank: number
  readonly alpha: number
  readonly data: (Datum & { weights: number[] })[]
  readonly readings: {
    readonly layer: number
    readonly neighbours: number
    readonly loss: number
    readonly logprobs: string[]
    readonly gradients: Record<string, string>
  }[]
  readonly collected: { readonly keys: string; readonly values: string }[]
}

const { config } = recorded('llama') as { config: TransformerConfig }
const vectors = recorded('memory') as Vectors
const model = recordedModel(config)
const width = config.kvHeads * config.headDim
const { data } = vectors
const loss = { kind: 'cross_entropy' } as const

const entries = (length = vectors.entries): MemoryRows => ({
  length,
  keys: numbers(7000, length * width),
  values: numbers(7001, length * width),
})

const settings = (layer: number, neighbours: number): MemoryConfig => ({
  layer,
  neighbours,
  queries: { rank: vectors.rank, alpha: vectors.alpha },
})

/** The values that the vectors were recorded with; `gate` in place of the recorded one. */
function values(memory: MemoryConfig, gate = numbers(7002, config.heads)): Float32Array {
  const [b, lora, loraB] = [...memoryShapes(config, memory).keys()]
  return flatten(
    memoryShapes(config, memory),
    new Map([
      [b!, gate],
      [lora!, numbers(7010, vectors.rank * config.hiddenSize, 0.4)],
      [loraB!, numbers(7011, config.heads * config.headDim * vectors.rank, 0.4)],
    ]),
  )
}

function trainerOf(memory: MemoryConfig, start?: Float32Array, shards = 1) {
  const parts = inProcessTrainer({
    model,
    trained: { kind: 'memory', ...memory },
    shards,
    ...(start && { values: start }),
  })
  const origin = originOf(model, memory.layer)
  return { ...parts, memory: new MemoryTrainer({ config, origin, trainer: parts.trainer }) }
}

/** A trainer's memory with the recorded entries. */
function filled(trainer: MemoryTrainer, rows = entries()) {
  const memory = trainer.newMemory(1000)
  memory.append(rows)
  return memory
}

describe.each(vectors.readings)('layer $layer with $neighbours neighbours', (expected) => {
  const memory = settings(expected.layer, expected.neighbours)

  it('gives the loss, log-probabilities and every gradient of PyTorch', async () => {
    const { memory: trainer, shards } = trainerOf(memory, values(memory))
    const result = await trainer.forwardBackward(data, loss, filled(trainer))
    expect(result.loss).toBeCloseTo(expected.loss, 4)
    for (const [index, logprobs] of expected.logprobs.entries()) {
      const counted = unpack(logprobs).map((value, t) => (data[index]!.weights[t] === 0 ? 0 : value))
      expect(relativeError(result.logprobs[index]!, counted)).toBeLessThan(2e-6)
    }
    const gradient = await shards[0]!.takeGradient()
    const shapes = memoryShapes(config, memory)
    expect([...shapes.keys()].toSorted()).toEqual(Object.keys(expected.gradients).toSorted())
    const wanted = flatten(
      shapes,
      new Map(Object.entries(expected.gradients).map(([name, packed]) => [name, unpack(packed)])),
    )
    expect(relativeError(gradient!, wanted)).toBeLessThan(1e-5)
  })
})

describe('the gates', () => {
  it('have the gradient of finite differences', async () => {
    const memory = settings(0, 3)
    const { memory: trainer, shards } = trainerOf(memory, values(memory))
    const recall = filled(trainer)
    await trainer.forwardBackward(data, loss, recall)
    const gradient = await shards[0]!.takeGradient()
    const at = async (head: number, step: number) => {
      const moved = values(memory)
      moved[head] = moved[head]! + step
      await shards[0]!.setValues(moved)
      return (await trainer.forwardBackward(data, loss, recall)).loss
    }
    for (let head = 0; head < config.heads; head++) {
      const slope = ((await at(head, 0.02)) - (await at(head, -0.02))) / 0.04
      expect(Math.abs(gradient![head]! - slope)).toBeLessThan(1e-3)
    }
  })

  it('shut, leave the base model as it is', async () => {
    const { queries: _, ...gateOnly } = settings(1, 3)
    const start = new Float32Array(config.heads).fill(-200)
    const { memory: trainer } = trainerOf(gateOnly, start)
    const withMemory = await trainer.forward(data, filled(trainer))
    const base = inProcessTrainer({ model, trained: { kind: 'full' } }).trainer
    expect(relativeError(withMemory.flat(), (await base.forward(data)).flat())).toBeLessThan(1e-6)
  })
})

describe('a trainer with a memory', () => {
  it('runs the graph of LoRA on the queries alone, bit for bit, where the memory is empty or none', async () => {
    const memory = settings(0, 3)
    const { memory: trainer, shards } = trainerOf(memory, values(memory))
    const none = await trainer.forwardBackward(data, loss, null)
    const gradient = await shards[0]!.takeGradient()
    const empty = await trainer.forwardBackward(data, loss, trainer.newMemory(5))
    expect(empty).toEqual(none)
    expect(await shards[0]!.takeGradient()).toEqual(gradient)
    // Nothing flows to the gates, and something to the queries.
    expect(gradient!.subarray(0, config.heads).every((value) => value === 0)).toBe(true)
    expect(gradient!.some((value) => value !== 0)).toBe(true)
  })

  it('attends to the whole memory where it has no more entries than neighbours', async () => {
    const scores = async (neighbours: number) => {
      const memory = settings(0, neighbours)
      const { memory: trainer } = trainerOf(memory, values(memory))
      return trainer.forward(data, filled(trainer))
    }
    const [all, more, fewer] = [await scores(vectors.entries), await scores(100), await scores(vectors.entries - 1)]
    expect(more).toEqual(all)
    expect(fewer).not.toEqual(all)
  })

  it('forgets the memory of one call in the next', async () => {
    const memory = settings(1, 3)
    const { memory: trainer } = trainerOf(memory, values(memory))
    const before = await trainer.forward(data, null)
    const calls = [trainer.forward(data, filled(trainer)), trainer.forward(data, null)] as const
    const [withMemory, after] = await Promise.all(calls)
    expect(withMemory).not.toEqual(before)
    expect(after).toEqual(before)
  })

  it('collects the keys, not yet turned, and values of PyTorch', async () => {
    for (const [layer, { keys, values: kept }] of vectors.collected.entries()) {
      const { memory: trainer } = trainerOf(settings(layer, 3))
      const rows = await trainer.collect(data[0]!.input)
      expect(rows.length).toBe(data[0]!.input.length)
      expect(relativeError(rows.keys, unpack(keys))).toBeLessThan(2e-6)
      expect(relativeError(rows.values, unpack(kept))).toBeLessThan(2e-6)
    }
  })

  it('collects the same whatever was trained, and longer texts than a row of the grid', async () => {
    const long = Array.from({ length: 60 }, (_, i) => (i * 7) % config.vocabSize)
    const memory = settings(1, 3)
    const fresh = await trainerOf(memory).memory.collect(long)
    const trained = await trainerOf(memory, values(memory)).memory.collect(long)
    expect(trained).toEqual(fresh)
    const beginning = await trainerOf(memory).memory.collect(long.slice(0, 7))
    expect(relativeError(fresh.keys.slice(0, 7 * width), beginning.keys)).toBeLessThan(2e-6)
    expect(await trainerOf(memory).memory.collect([])).toMatchObject({ length: 0 })
  })

  it('gives the same on two shards as on one', async () => {
    const memory = settings(1, 3)
    const many = Array.from({ length: 6 }, () => data).flat()
    const one = trainerOf(memory, values(memory))
    const two = trainerOf(memory, values(memory), 2)
    const [alone, spread] = [
      await one.memory.forwardBackward(many, loss, filled(one.memory)),
      await two.memory.forwardBackward(many, loss, filled(two.memory)),
    ]
    expect(spread.loss).toBeCloseTo(alone.loss, 3)
  })

  it('learns to open its gates where the memory helps, and saves what it learned', async () => {
    const memory = settings(0, 2)
    const { memory: trainer } = trainerOf(memory)
    const recall = filled(trainer)
    const first = (await trainer.forwardBackward(data, loss, recall)).loss
    for (let step = 0; step < 30; step++) {
      await trainer.optimStep({ learningRate: 0.05 })
      await trainer.forwardBackward(data, loss, recall)
    }
    const last = (await trainer.forwardBackward(data, loss, recall)).loss
    expect(last).toBeLessThan(first - 1)
    const scores = await trainer.forward(data, recall)
    const again = trainerOf(memory)
    await again.memory.loadWeights(await trainer.saveWeights())
    expect(await again.memory.forward(data, filled(again.memory))).toEqual(scores)
  })

  it('saves and loads its state, and refuses that of other settings', async () => {
    const { memory: trainer } = trainerOf(settings(0, 2), values(settings(0, 2)))
    const state = await trainer.saveState()
    const other = trainerOf(settings(0, 3)).memory
    await expect(other.loadState(state)).rejects.toMatchObject({ code: 'model/state-mismatch' })
    await expect(other.loadWeights(await trainer.saveWeights())).rejects.toMatchObject({ code: 'model/state-mismatch' })
    await trainerOf(settings(0, 2)).memory.loadState(state)
  })

  it('refuses a memory of another layer or model', async () => {
    const { memory: trainer } = trainerOf(settings(1, 2))
    const other = filled(trainerOf(settings(0, 2)).memory)
    expect(() => trainer.forward(data, other)).toThrow(/layer 0/)
    expect(() => trainer.readMemory(other.toBytes())).toThrow(/layer 0/)
  })
})

describe('graphs', () => {
  it('without a memory are those of LoRA on nothing else, node for node', () => {
    const trained: Trained = { kind: 'memory', layer: 0, neighbours: 2 }
    const full = forwardGraph({ config, trained: { kind: 'full' } }).toOnnx().nodes
    expect(forwardGraph({ config, trained }).toOnnx().nodes).toEqual(full)
  })

  it('with a memory hold gradients of what is trained alone', () => {
    const trained: Trained = { kind: 'memory', ...settings(1, 2) }
    const graph = trainingGraph({ config, trained, recalls: true }).toOnnx()
    const gradients = graph.outputs.map(({ name }) => name).filter((name) => name.startsWith('gradient of '))
    expect(gradients.toSorted()).toEqual(
      [...trainedShapes(config, trained).keys()].map((name) => `gradient of ${name}`).toSorted(),
    )
    expect(gradients).toContain(`gradient of ${gateName(1)}`)
  })
})
