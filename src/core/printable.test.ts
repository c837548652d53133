import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { printable } from './index.ts'

it('keeps what can be read, replaces what cannot, and says that it cut', () => {
  expect(printable('plain — 東京')).toBe('plain — 東京')
  expect(printable('a\nb\u001b[2J\u202ec\ud800')).toBe('a?b?[2J?c?')
  expect(printable('abcdef', 3)).toBe('abc…')
})

it('never breaks a line', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 })
  fc.assert(
    fc.property(text, (one) => {
      expect(printable(one, 50)).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{0,51}$/u)
    }),
  )
})
