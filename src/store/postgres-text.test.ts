import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeText, encodeText } from './postgres-text.ts'

const text = fc.string({ unit: fc.oneof(fc.constantFrom('\0', '\uFDD0', '0', '1'), fc.string({ unit: 'binary' })) })

it('gives back every text, with NUL and its own sign too', () => {
  fc.assert(fc.property(text, (given) => decodeText(encodeText(given)) === given))
})

it('never holds NUL', () => {
  fc.assert(fc.property(text, (given) => !encodeText(given).includes('\0')))
})

it('leaves other text as it is', () => {
  for (const plain of ['', 'text', '✓\u2028\u0001', '\uFDD1']) expect(encodeText(plain)).toBe(plain)
})
