import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { dequantized, elementType } from '../element-type.ts'
import { UnsupportedQuantizationError } from '../unsupported-quantization-error.ts'
import { blockFormats } from './formats.ts'

const base64 = z.string().transform((text) => new Uint8Array(Buffer.from(text, 'base64')))
const { formats } = z
  .object({ formats: z.record(z.string(), z.object({ type: z.int(), bytes: base64, values: base64 })) })
  .parse(JSON.parse(readFileSync(new URL('./blocks.vectors.json', import.meta.url), 'utf8')))

describe('dequantized', () => {
  it.each(Object.entries(formats))('%s gives the numbers of the Python package, bit for bit', (name, vector) => {
    const type = elementType('x', vector.type)
    expect('dtype' in type ? type.dtype : type.name).toBe(name)
    expect(dequantized('x', type, vector.bytes)).toEqual(new Float32Array(vector.values.buffer))
  })

  it('has a vector for every block format', () => {
    expect([...blockFormats.values()].map(({ name }) => name).filter((name) => !(name in formats))).toEqual([])
  })

  it('unpacks a block by hand: Q4_0 with scale 0.5', () => {
    const block = new Uint8Array(18).fill(0x88)
    block.set([0x00, 0x38, 0xf0]) // f16 0.5, then low nibble 0 and high nibble 15.
    const expected = new Float32Array(32)
    expected[0] = (0 - 8) * 0.5
    expected[16] = (15 - 8) * 0.5
    expect(dequantized('x', elementType('x', 2), block)).toEqual(expected)
  })

  it('names a type that it does not have', () => {
    expect(() => elementType('"blk.0.ffn_up.weight"', 21)).toThrow(UnsupportedQuantizationError)
    expect(() => elementType('"blk.0.ffn_up.weight"', 21)).toThrow(
      /"blk\.0\.ffn_up\.weight" is stored as ggml type 21.*Q4_K/,
    )
  })
})
