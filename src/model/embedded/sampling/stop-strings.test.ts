import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StopStrings } from './stop-strings.ts'

const pieces = ['', 'a', 'b', 'ab', '</', 'tool', '>', '>\n', '\n', 'x</t', ' é', '\ufffd']
const decode = (tokens: readonly number[]) => tokens.map((token) => pieces[token]).join('')
const stops = new StopStrings(decode, pieces.length)
const suspectPieces = (...wanted: string[]) => stops.suspects(wanted).map((token) => pieces[token])

describe('stop strings', () => {
  it('suspects the tokens that contain one or can complete one', () => {
    expect(suspectPieces('\n')).toEqual(['>\n', '\n'])
    expect(suspectPieces('</tool>')).toEqual(['>', '>\n'])
    expect(suspectPieces('ab')).toEqual(['b', 'ab'])
    expect(suspectPieces('\n', 'b')).toEqual(['b', 'ab', '>\n', '\n'])
  })

  it('suspects parts of characters only where the string is not ASCII', () => {
    expect(suspectPieces('é')).toEqual([' é', '\ufffd'])
    expect(suspectPieces('a')).not.toContain('\ufffd')
  })

  it('never misses: when a text first contains the string, its last token is a suspect', () => {
    const alphabet = ['a', 'b', 'ab', 'ba', 'aab', 'bba', 'c']
    const ofAlphabet = new StopStrings((tokens) => tokens.map((token) => alphabet[token]).join(''), alphabet.length)
    const text = fc.array(fc.integer({ min: 0, max: alphabet.length - 1 }), { minLength: 1, maxLength: 12 })
    const stop = fc
      .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 5 })
      .map((letters) => letters.join(''))
    fc.assert(
      fc.property(text, stop, (tokens, wanted) => {
        const first = tokens.findIndex((_, index) => ofAlphabet.contains(tokens.slice(0, index + 1), [wanted]))
        if (first >= 0) expect(ofAlphabet.suspects([wanted])).toContain(tokens[first])
      }),
      { numRuns: 1000 },
    )
  })
})
