import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Pieces } from './pieces.ts'

/** The plain way: each piece is looked for at each place. */
function plainly(texts: readonly string[], text: string): readonly number[] {
  const wordy = /[\p{L}\p{N}]/u
  const joined = (at: number) => wordy.test(text[at - 1] ?? '') && wordy.test(text[at] ?? '')
  const quotes = (piece: string) => {
    for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + 1)) {
      if (!joined(at) && !joined(at + piece.length)) return true
    }
    return false
  }
  return texts.flatMap((one, i) => {
    const lines = one.split('\n').map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, ''))
    return [one, ...lines].some((line) => wordy.test(line) && quotes(line.trim())) ? [i] : []
  })
}

function found(texts: readonly string[], text: string) {
  const pieces = new Pieces<number>()
  for (const [i, one] of texts.entries()) pieces.add(one, i)
  const { by, complete } = pieces.in(text)
  return { makers: [...new Set(by.flatMap((makers) => [...makers]))].toSorted((a, b) => a - b), complete }
}

it('finds what the plain way finds', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'ab', 'über', '果', '7', ' ', ' ', '\n', '- ', '1. ', '.'), {
    maxLength: 12,
  })
  const text = words.map((all) => all.join(''))
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), text, (texts, where) => {
      expect(found(texts, where)).toEqual({ makers: plainly(texts, where), complete: true })
    }),
    { numRuns: 500 },
  )
})

describe('a text that would take too long is given up, and it says so', () => {
  const upTo = (count: number, end = '') => Array.from({ length: count }, (_, i) => `${'a '.repeat(i)}a${end}`)

  it('where it repeats itself and pieces do too', () => {
    const texts = upTo(1000, ' b')
    expect(found(texts, 'a '.repeat(50_000))).toEqual({ makers: [], complete: false })
  })

  it('and never where it is only long', () => {
    const near = `${'a '.repeat(4000)}b`
    expect(found([near], 'a '.repeat(50_000))).toEqual({ makers: [], complete: true })
    expect(found(['a'.repeat(8000)], 'a'.repeat(100_000))).toEqual({ makers: [], complete: true })
    const log = Array.from({ length: 1000 }, (_, i) => `2026-11-25T19:03 INFO the request ${i} took ${i * 7} ms`)
    expect(found([log.join('\n')], `${log.toReversed().join('\n')}\n`)).toEqual({ makers: [0], complete: true })
  })
})
