import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { writeGguf } from '../../../../../test/support/gguf.ts'
import { tinyGguf } from '../../../../../test/support/tiny-gguf.ts'
import { InputError } from '../../../../errors/index.ts'
import { readHeader } from './header.ts'
import { MalformedGgufError } from './malformed-gguf-error.ts'
import { readModelConfig } from './model-config.ts'
import { tokenizerJson } from './tokenizer-json.ts'
import { readVocabulary } from './vocabulary.ts'

const file = writeGguf(tinyGguf())

const changed = (change: (view: DataView, bytes: Buffer) => void): Uint8Array => {
  const copy = Buffer.from(file)
  change(new DataView(copy.buffer, copy.byteOffset, copy.byteLength), copy)
  return copy
}

const problem = (bytes: Uint8Array, fileBytes = bytes.length): string => {
  try {
    readHeader(bytes, fileBytes)
  } catch (error) {
    if (error instanceof MalformedGgufError) return error.problem
    throw error
  }
  return 'none'
}

/** The place of a tensor's entry, just after its name. */
const entryOf = (bytes: Buffer, name: string): number => bytes.indexOf(name) + name.length
/** After the number of dimensions and two of them. */
const typeOf = (bytes: Buffer, name: string): number => entryOf(bytes, name) + 4 + 16

describe('readHeader', () => {
  it('reads values of every type', () => {
    const { metadata } = readHeader(file, file.length)
    expect(metadata.get('general.architecture')).toBe('llama')
    expect(metadata.get('llama.block_count')).toBe(1)
    expect(metadata.get('llama.rope.freq_base')).toBe(5_000)
    expect(metadata.get('tokenizer.ggml.merges')).toEqual(['l o', 'lo w'])
    expect(metadata.get('tokenizer.ggml.token_type')).toEqual(Float64Array.of(1, 1, 1, 1, 1, 1, 1, 1, 1, 3))
  })

  it('places tensors: row-major shapes, bytes after the header, aligned', () => {
    const { tensors } = readHeader(file, file.length)
    const down = tensors.get('blk.0.ffn_down.weight')
    expect(down?.shape).toEqual([8, 32])
    expect(down && down.end - down.begin).toBe(8 * 32 * 4)
    expect(down && down.begin % 32).toBe(0)
    expect([...tensors.values()].every(({ end }) => end <= file.length)).toBe(true)
  })

  it('keeps a key such as __proto__ a key', () => {
    const bytes = writeGguf({ metadata: { ['__proto__']: { text: 'x' } }, tensors: {} })
    expect(readHeader(bytes, bytes.length).metadata.get('__proto__')).toBe('x')
  })

  it.each<[string, Uint8Array, RegExp]>([
    ['version 1', changed((view) => view.setUint32(4, 1, true)), /version 1, and versions 2 and 3/],
    ['a big-endian file', changed((view) => view.setUint32(4, 3, false)), /big-endian/],
    [
      '2⁶³ tensors',
      changed((view) => view.setBigUint64(8, 2n ** 63n, true)),
      /the number of tensors is 9223372036854775808/,
    ],
    ['a million tensors', changed((view) => view.setBigUint64(8, 1_000_000n, true)), /at most 100000/],
    ['a billion entries', changed((view) => view.setBigUint64(16, 1_000_000_000n, true)), /claims 1000000000 entries/],
    ['a key of 4 GB', changed((view) => view.setBigUint64(24, 2n ** 32n, true)), /length of key 1 .* is 4294967296/],
    [
      'a list of four million texts',
      changed((view, bytes) => view.setBigUint64(bytes.indexOf('tokenizer.ggml.merges') + 21 + 8, 4_000_000n, true)),
      /"tokenizer\.ggml\.merges" claims 4000000 elements, and \d+ bytes are left/,
    ],
    [
      'an unknown type of value',
      changed((view, bytes) => view.setUint32(bytes.indexOf('llama.block_count') + 17, 99, true)),
      /"llama\.block_count" is of type 99/,
    ],
    [
      'nine dimensions',
      changed((view, bytes) => view.setUint32(entryOf(bytes, 'blk.0.ffn_down.weight'), 9, true)),
      /"blk\.0\.ffn_down\.weight" claims 9 dimensions/,
    ],
    [
      'a dimension of 2⁵⁰',
      changed((view, bytes) => view.setBigUint64(entryOf(bytes, 'blk.0.ffn_down.weight') + 4, 2n ** 50n, true)),
      /holds nothing or too much/,
    ],
    [
      'a tensor beyond the end',
      changed((view, bytes) => view.setBigUint64(entryOf(bytes, 'blk.0.ffn_down.weight') + 4, 3_200n, true)),
      /"blk\.0\.ffn_down\.weight" \(bytes \d+ to \d+\) lies beyond the end of the file, which is at \d+/,
    ],
    [
      'two tensors in one place',
      changed((view, bytes) => view.setBigUint64(typeOf(bytes, 'blk.0.ffn_down.weight') + 4, 0n, true)),
      /overlaps the one before it/,
    ],
    [
      'a tensor out of line',
      changed((view, bytes) => view.setBigUint64(typeOf(bytes, 'blk.0.ffn_down.weight') + 4, 1n, true)),
      /begins at 1, which is no multiple of 32/,
    ],
    [
      'rows that are no whole blocks',
      changed((view, bytes) => view.setUint32(typeOf(bytes, 'blk.0.attn_q.weight'), 12, true)),
      /rows of tensor "blk\.0\.attn_q\.weight" hold 8 numbers, and its blocks 256 each/,
    ],
  ])('refuses %s', (_, bytes, message) => {
    expect(problem(bytes)).toMatch(message)
  })

  it('refuses a header that does not end within what may be read of a larger file', () => {
    expect(problem(file.subarray(0, 500), 1e12)).toMatch(/header is longer than the 500 bytes that are allowed/)
  })

  it('refuses a file that ends anywhere before its last tensor does', () => {
    for (let length = 0; length < file.length; length += 7) {
      // Between the last tensor's end and the padding nothing is lost.
      expect(problem(file.subarray(0, length)), `${length} bytes`).toMatch(/ends at byte|beyond the end|are left/)
    }
  })

  it('throws nothing but InputErrors on damaged files, and reads nothing absurd', () => {
    const damage = fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(damage, fc.nat(file.length), fc.boolean(), (changes, cut, truncated) => {
        const bytes = Buffer.from(file)
        for (const [place, value] of changes) bytes[place] = value
        const given = truncated ? bytes.subarray(0, cut) : bytes
        try {
          const header = readHeader(given, given.length)
          for (const { end } of header.tensors.values()) expect(end).toBeLessThanOrEqual(given.length)
          readModelConfig(header)
          tokenizerJson(readVocabulary(header.metadata))
        } catch (error) {
          expect(error).toBeInstanceOf(InputError)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
