import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { TextBefore } from './text-before.ts'

const through = (stops: readonly string[], pieces: readonly string[]) => {
  const before = new TextBefore(stops)
  return [...pieces.map((piece) => before.push(piece)), before.end()]
}

it('holds back what may become a stop string, and lets it go when it does not', () => {
  expect(through(['END'], ['a E', 'N', 'x', 'EN'])).toEqual(['a ', '', 'ENx', '', 'EN'])
})

it('says nothing after a stop string', () => {
  expect(through(['END'], ['a E', 'ND b', 'c'])).toEqual(['a ', '', '', ''])
})

it('ends before the one that is complete first; of those, before the longest', () => {
  expect(through(['abcd', 'c'], ['abcd']).join('')).toBe('ab')
  expect(through(['c', 'bc'], ['abcd']).join('')).toBe('a')
})

it('lets everything through where there is nothing to stop at', () => {
  expect(through([], ['a', 'b'])).toEqual(['a', 'b', ''])
  expect(through([''], ['a', 'b'])).toEqual(['a', 'b', ''])
})

it('says the same however the text is cut', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 })
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 3 }), fc.array(letters), (stops, pieces) => {
      expect(through(stops, pieces).join('')).toBe(through(stops, [pieces.join('')]).join(''))
    }),
  )
})
