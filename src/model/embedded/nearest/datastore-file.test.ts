import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RatchetError } from '../../../errors/index.ts'
import { writeSafetensors } from '../load/safetensors.ts'
import { type Datastore, checkDatastore, mostEntries } from './datastore.ts'
import { readDatastore, writeDatastore } from './datastore-file.ts'

const origin = { model: 'a'.repeat(64), adapter: 'b'.repeat(64) }
const datastore: Datastore = {
  keys: Float32Array.of(1, 2, 3, 4, 5, -6),
  tokens: Int32Array.of(9, 0),
  width: 3,
  origin,
}

/** A file of these tensors that says it is a datastore. */
const file = (
  tensors: Record<string, { shape: number[]; data: Float32Array | Int32Array }>,
  says: unknown = { kind: 'datastore', origin },
) => writeSafetensors(new Map(Object.entries(tensors)), { ratchet: JSON.stringify(says) })
const keys = { shape: [2, 3], data: datastore.keys }
const tokens = { shape: [2], data: datastore.tokens }

describe('the file of a datastore', () => {
  it('gives it back, and is the same bytes for the same datastore', () => {
    const bytes = writeDatastore(datastore)
    expect(readDatastore(bytes)).toEqual(datastore)
    expect(writeDatastore(readDatastore(bytes))).toEqual(bytes)
    const ofBase = { ...datastore, origin: { ...origin, adapter: null } }
    expect(readDatastore(writeDatastore(ofBase))).toEqual(ofBase)
  })

  it.each([
    ['says nothing of itself', writeSafetensors(new Map(Object.entries({ keys, tokens })))],
    ['is an adapter', file({ keys, tokens }, { kind: 'adapter', lora: {} })],
    ['names no weights', file({ keys, tokens }, { kind: 'datastore', origin: { model: 'mine', adapter: null } })],
    ['lacks tokens', file({ keys })],
    ['holds more', file({ keys, tokens, more: tokens })],
    ['has tokens for another number of keys', file({ keys, tokens: { shape: [1], data: Int32Array.of(1) } })],
    ['has keys in one row', file({ keys: { shape: [6], data: datastore.keys }, tokens })],
    ['has keys of whole numbers', file({ keys: { shape: [2, 3], data: new Int32Array(6) }, tokens })],
    ['has tokens that are fractions', file({ keys, tokens: { shape: [2], data: new Float32Array(2) } })],
    [
      'is empty',
      file({ keys: { shape: [0, 3], data: new Float32Array() }, tokens: { shape: [0], data: new Int32Array() } }),
    ],
    ['has keys of no width', file({ keys: { shape: [2, 0], data: new Float32Array() }, tokens })],
    ['holds what is no number', file({ keys: { shape: [2, 3], data: new Float32Array(6).fill(Number.NaN) }, tokens })],
    ['holds a token below 0', file({ keys, tokens: { shape: [2], data: Int32Array.of(1, -1) } })],
  ])('is refused where it %s', (_, bytes) => {
    expect(() => readDatastore(bytes)).toThrow(expect.objectContaining({ code: 'model/invalid-datastore' }) as Error)
  })

  it('is refused cut short or changed anywhere, by a typed error, or read as what it says', () => {
    const whole = writeDatastore(datastore)
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.boolean(), (at, byte, cut) => {
        const bytes = cut ? whole.slice(0, at) : whole.with(at, byte)
        try {
          checkDatastore(readDatastore(bytes))
        } catch (error) {
          expect(RatchetError.is(error)).toBe(true)
        }
      }),
    )
  })
})

it('more entries than are searched are refused', () => {
  const many = {
    ...datastore,
    keys: new Float32Array(mostEntries + 1),
    tokens: new Int32Array(mostEntries + 1),
    width: 1,
  }
  expect(() => checkDatastore(many)).toThrow('100001 entries, and at most 100000')
  expect(() => readDatastore(writeDatastore(many))).toThrow('100001 entries, and at most 100000')
})
