import { describe, expect, it } from 'vitest'
import { recorded, recordedModel } from '../../../../test/support/recorded.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { AttentionMemory, type MemoryRows } from './attention-memory.ts'
import { originOf } from './memory-origin.ts'

const origin = { model: 'a', layer: 2, width: 2 }

/** Entries that are told apart by their numbers. */
const rows = (...numbers: number[]): MemoryRows => ({
  length: numbers.length,
  keys: Float32Array.from(numbers.flatMap((n) => [n, n + 0.5])),
  values: Float32Array.from(numbers.flatMap((n) => [-n, n])),
})

const numbersIn = (memory: AttentionMemory) => [...memory.rows().keys].filter((_, i) => i % 2 === 0)

describe('an attention memory', () => {
  it('keeps the newest entries, oldest first', () => {
    const memory = new AttentionMemory(origin, 4)
    expect(memory.length).toBe(0)
    memory.append(rows(1, 2, 3))
    expect(numbersIn(memory)).toEqual([1, 2, 3])
    memory.append(rows(4, 5))
    expect(numbersIn(memory)).toEqual([2, 3, 4, 5])
    memory.append(rows(6, 7, 8, 9, 10, 11))
    expect(numbersIn(memory)).toEqual([8, 9, 10, 11])
    expect(memory.rows()).toEqual(rows(8, 9, 10, 11))
    memory.clear()
    expect(memory.length).toBe(0)
  })

  it('gives copies', () => {
    const memory = new AttentionMemory(origin, 4)
    const given = rows(1)
    memory.append(given)
    given.keys.fill(9)
    memory.rows().keys.fill(9)
    expect(memory.rows()).toEqual(rows(1))
  })

  it('comes back from its bytes, empty or not', () => {
    for (const entries of [rows(), rows(1, 2)]) {
      const memory = new AttentionMemory(origin, 3)
      memory.append(entries)
      const again = AttentionMemory.fromBytes(memory.toBytes(), origin)
      expect(again.rows()).toEqual(memory.rows())
      expect(again.capacity).toBe(3)
      expect(again.toBytes()).toEqual(memory.toBytes())
    }
  })

  it('is refused by another model, another layer, and where the bytes are something else', () => {
    const bytes = new AttentionMemory(origin, 3).toBytes()
    for (const other of [
      { ...origin, model: 'b' },
      { ...origin, layer: 1 },
      { ...origin, width: 4 },
    ]) {
      expect(() => AttentionMemory.fromBytes(bytes, other)).toThrow(/cannot be loaded/)
    }
    expect(() => AttentionMemory.fromBytes(new Uint8Array(20), origin)).toThrow()
  })

  it('is refused where it holds what is not a number', () => {
    const memory = new AttentionMemory(origin, 3)
    memory.append({ length: 1, keys: new Float32Array(origin.width), values: new Float32Array(origin.width).fill(NaN) })
    expect(() => AttentionMemory.fromBytes(memory.toBytes(), origin)).toThrow(/values holds NaN at element 0/)
  })

  it('refuses entries of another width and a capacity that is none', () => {
    const memory = new AttentionMemory({ ...origin, width: 3 }, 4)
    expect(() => memory.append(rows(1))).toThrow(/3 each are needed/)
    expect(() => new AttentionMemory(origin, 0)).toThrow(/capacity/)
    expect(() => new AttentionMemory(origin, 1.5)).toThrow(/capacity/)
  })
})

describe('where a memory comes from', () => {
  const { config } = recorded('llama') as { config: TransformerConfig }
  const model = recordedModel(config)
  const changed = (name: string) => ({
    config,
    tensors: new Map(
      [...model.tensors].map(([other, values]) => [other, other === name ? values.map((value) => value + 1) : values]),
    ),
  })

  it('hangs on every weight that its keys and values hang on, and on no other', () => {
    const of = (name: string) => originOf(changed(name), 0).model
    const own = originOf(model, 0).model
    expect(of('model.embed_tokens.weight')).not.toBe(own)
    expect(of('model.layers.0.self_attn.k_proj.weight')).not.toBe(own)
    expect(of('model.layers.1.self_attn.k_proj.weight')).toBe(own)
    expect(of('model.norm.weight')).toBe(own)
    expect(originOf(changed('model.layers.0.mlp.up_proj.weight'), 1).model).not.toBe(originOf(model, 1).model)
  })
})
