import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toFloat32 } from './floats.ts'
import { MalformedSafetensorsError } from './malformed-safetensors-error.ts'
import { readSafetensors, type StoredTensor, writeSafetensors } from './safetensors.ts'

const sample = (): Uint8Array =>
  writeSafetensors(
    new Map([
      ['a', { shape: [2, 3], data: Float32Array.of(1, -2, 3.5, 0, 1e-40, Number.POSITIVE_INFINITY) }],
      ['empty', { shape: [0, 4], data: new Float32Array(0) }],
      ['scalar', { shape: [], data: Float32Array.of(7) }],
    ]),
    { format: 'pt' },
  )

/** A file with any header, honest or not. */
function file(header: unknown, dataBytes: number): Uint8Array {
  const json = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header))
  const bytes = new Uint8Array(8 + json.length + dataBytes)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true)
  bytes.set(json, 8)
  return bytes
}

const tensorsArbitrary = fc
  .uniqueArray(
    fc.record({ name: fc.string({ minLength: 1, unit: 'grapheme' }), shape: fc.array(fc.nat(4), { maxLength: 3 }) }),
    { selector: ({ name }) => name, maxLength: 6 },
  )
  .filter((items) => items.every(({ name }) => name !== '__metadata__'))
  .chain((items) =>
    fc.tuple(
      ...items.map(({ name, shape }) => {
        const length = shape.reduce((a, b) => a * b, 1)
        return fc
          .float32Array({ minLength: length, maxLength: length })
          .map((data): [string, { shape: number[]; data: Float32Array }] => [name, { shape, data }])
      }),
    ),
  )
  .map((entries) => new Map(entries))

// zod drops a key named __proto__.
const metadataArbitrary = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  fc.string(),
)

describe('readSafetensors and writeSafetensors', () => {
  it('are inverse', () => {
    fc.assert(
      fc.property(tensorsArbitrary, metadataArbitrary, (tensors, metadata) => {
        const read = readSafetensors(writeSafetensors(tensors, metadata))
        expect(Object.entries(read.metadata)).toEqual(Object.entries(metadata))
        expect([...read.tensors.keys()].toSorted()).toEqual([...tensors.keys()].toSorted())
        for (const [name, { shape, data }] of tensors) {
          const stored = read.tensors.get(name) as StoredTensor
          expect(stored.shape).toEqual(shape)
          expect(new Uint8Array(toFloat32(name, stored).buffer)).toEqual(
            new Uint8Array(data.buffer, 0, data.byteLength),
          )
        }
      }),
    )
  })

  it('reads from a view that starts at an odd byte', () => {
    const shifted = new Uint8Array(sample().length + 1)
    shifted.set(sample(), 1)
    const { tensors } = readSafetensors(shifted.subarray(1))
    expect([...toFloat32('scalar', tensors.get('scalar') as StoredTensor)]).toEqual([7])
  })

  it('throws nothing but its own error on a truncated file', () => {
    const bytes = sample()
    for (let length = 0; length < bytes.length; length++)
      expect(() => readSafetensors(bytes.subarray(0, length))).toThrow(MalformedSafetensorsError)
  })

  it('throws nothing but its own error on mutated bytes', () => {
    const mutation = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(mutation, fc.nat(40), (changes, cut) => {
        const bytes = sample()
        for (const [at, value] of changes) bytes[at % bytes.length] = value
        try {
          readSafetensors(bytes.subarray(0, bytes.length - cut))
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedSafetensorsError)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    [
      'a header longer than the file',
      Uint8Array.of(200, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x7d),
      /bytes 8 to 208.*ends at 10/,
    ],
    ['an absurd header length', new Uint8Array(16).fill(255), /claims 18446744073709551615 bytes/],
    ['bad JSON', file('{"a":', 0), /bytes 8 to 13\) is not JSON/],
    ['a header that is no object', file('[]', 0), /not a JSON object/],
    ['an unknown dtype', file({ a: { dtype: 'F3', shape: [], data_offsets: [0, 4] } }, 4), /tensor "a".*dtype/],
    ['a negative size', file({ a: { dtype: 'F32', shape: [-1], data_offsets: [0, 4] } }, 4), /tensor "a"/],
    [
      'a shape that disagrees with its bytes',
      file({ a: { dtype: 'F16', shape: [2, 3], data_offsets: [0, 4] } }, 4),
      /tensor "a" \(bytes 0 to 4\) holds 4 bytes, and F16 \[2, 3\] needs 12/,
    ],
    [
      'a shape whose product overflows',
      file({ a: { dtype: 'F32', shape: [2 ** 40, 2 ** 40], data_offsets: [0, 4] } }, 4),
      /tensor "a" \(bytes 0 to 4\)/,
    ],
    [
      'offsets beyond the data',
      file({ a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } }, 4),
      /tensor "a" \(bytes 0 to 8\) lies beyond the data, which end at 4/,
    ],
    [
      'reversed offsets',
      file({ a: { dtype: 'F32', shape: [], data_offsets: [4, 0] } }, 4),
      /tensor "a" \(bytes 4 to 0\) ends before/,
    ],
    [
      'overlapping tensors',
      file(
        {
          a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
          b: { dtype: 'F32', shape: [2], data_offsets: [4, 12] },
        },
        12,
      ),
      /tensor "b" \(bytes 4 to 12\) overlaps/,
    ],
    ['a hole', file({ a: { dtype: 'F32', shape: [], data_offsets: [4, 8] } }, 8), /bytes 0 to 4, before tensor "a"/],
    ['trailing bytes', file({ a: { dtype: 'F32', shape: [], data_offsets: [0, 4] } }, 9), /bytes 4 to 9 belong/],
    ['metadata that are not strings', file({ __metadata__: { a: 1 } }, 0), /__metadata__/],
  ])('refuses %s and says where', (_, bytes, message) => {
    expect(() => readSafetensors(bytes)).toThrow(MalformedSafetensorsError)
    expect(() => readSafetensors(bytes)).toThrow(message)
  })

  it('lists tensors of any element type', () => {
    const { tensors } = readSafetensors(file({ ids: { dtype: 'I64', shape: [2], data_offsets: [0, 16] } }, 16))
    expect(tensors.get('ids')).toMatchObject({ dtype: 'I64', shape: [2] })
    expect(() => toFloat32('ids', tensors.get('ids') as StoredTensor)).toThrow(/"ids" is stored as I64/)
  })

  it('refuses to write a tensor whose shape disagrees with its elements', () => {
    const wrong = new Map([['a', { shape: [3], data: new Float32Array(2) }]])
    expect(() => writeSafetensors(wrong)).toThrow(/shape \[3\] cannot be written with 2 elements/)
  })
})

describe('toFloat32', () => {
  const stored = (dtype: StoredTensor['dtype'], ...words: number[]): StoredTensor => ({
    dtype,
    shape: [words.length],
    data: new Uint8Array(Uint16Array.from(words).buffer),
  })

  it('reads F16: normal, subnormal, infinite, negative zero', () => {
    const values = toFloat32('x', stored('F16', 0x3c00, 0xc000, 0x0001, 0x03ff, 0x7bff, 0x7c00, 0xfc00, 0x8000, 0x7e00))
    expect([...values]).toEqual([1, -2, 2 ** -24, 1023 * 2 ** -24, 65504, Infinity, -Infinity, -0, Number.NaN])
  })

  it('reads BF16 as the upper half of f32', () => {
    expect([...toFloat32('x', stored('BF16', 0x3f80, 0xc0a0, 0x7f80))]).toEqual([1, -5, Infinity])
  })
})
