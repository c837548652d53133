import { describe, expect, it } from 'vitest'
import { recordedModel, recorded } from '../../../../test/support/recorded.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { initialValues } from './initial-values.ts'
import type { PackedBatch } from './packing.ts'
import { PassSessions } from './pass-sessions.ts'
import { TrainingShard } from './training-shard.ts'

const { config } = recorded('llama') as { config: TransformerConfig }
const model = recordedModel(config)
const trained = { kind: 'full' } as const
const loss = { kind: 'cross_entropy', clipLow: 0.8, clipHigh: 1.2, temperature: 1 } as const

/** `count` trees of one token each, side by side in one row of the grid. */
function roots(count: number): PackedBatch {
  const each = BigInt64Array.from({ length: count }, (_, i) => BigInt(i))
  const mask = new Float32Array(count * count).fill(-1e9)
  for (let i = 0; i < count; i++) mask[i * count + i] = 0
  const one = new Float32Array(count).fill(1)
  return {
    shape: { batch: 1, nodes: count, keys: count },
    tokens: new BigInt64Array(count).fill(7n),
    positions: new BigInt64Array(count),
    keys: each,
    mask,
    rows: each,
    targets: new BigInt64Array(count).fill(9n),
    weights: one,
    oldLogprobs: new Float32Array(count),
    advantages: one,
    depth: 1,
  }
}

describe('a training shard', () => {
  const shard = (sessions = new PassSessions(model)) =>
    new TrainingShard({ model, trained, values: initialValues(model, trained, { seed: 1 }), sessions })

  it('runs rows that are longer than any tree in them is deep', async () => {
    const { logprobs } = await shard().forwardBackward(roots(600), loss)
    const [alone] = (await shard().forwardBackward(roots(1), loss)).logprobs
    expect(logprobs).toHaveLength(600)
    for (const logprob of logprobs) expect(logprob).toBeCloseTo(alone!, 5)
  })

  it('gives its gradient away once', async () => {
    const one = shard()
    expect(await one.takeGradient()).toBeNull()
    await one.forwardBackward(roots(2), loss)
    const gradient = await one.takeGradient()
    expect(gradient?.some((value) => value !== 0)).toBe(true)
    expect(await one.takeGradient()).toBeNull()
  })

  it('shares graphs with others of its thread: one serves every loss and every shard of equal settings', async () => {
    const sessions = new PassSessions(model)
    const [one, other] = [shard(sessions), shard(sessions)]
    for (const each of [one, other]) {
      await each.forwardBackward(roots(2), loss)
      await each.forwardBackward(roots(2), { ...loss, kind: 'ppo' })
    }
    expect(sessions.count).toBe(1)
    expect(await other.takeGradient()).toEqual(await one.takeGradient())
    await one.close()
    expect(sessions.count).toBe(0)
    await other.forwardBackward(roots(2), loss)
    await other.setAuxiliary(3)
    expect(sessions.count).toBe(0)
  })

  it('gives memory back where it is much, and goes on as before', async () => {
    for (const { large, left } of [
      { large: 1e9, left: 1 },
      { large: 1, left: 0 },
    ]) {
      const sessions = new PassSessions(model, { large })
      const one = shard(sessions)
      const before = await one.forwardBackward(roots(2), loss)
      await sessions.giveBackMemory()
      expect(sessions.count).toBe(left)
      expect(await one.forwardBackward(roots(2), loss)).toEqual(before)
      await one.close()
    }
  })

  it('tries a graph again that could not be opened', async () => {
    const sessions = new PassSessions(model, { threads: -1 })
    const one = shard(sessions)
    await expect(one.forwardBackward(roots(2), loss)).rejects.toThrow()
    expect(sessions.count).toBe(0)
    await sessions.giveBackMemory()
    await one.close()
  })
})
