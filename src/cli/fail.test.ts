import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { InputError } from '../errors/index.ts'
import { explainFailure } from './fail.ts'

it('what went wrong outside is one paragraph: what happened, what to do, the code', () => {
  const error = new InputError({ code: 'input/invalid', message: 'The key is wrong.', hint: 'Correct it.' })
  expect(stripVTControlCharacters(explainFailure(error))).toBe('✗ The key is wrong.\n  Correct it. [input/invalid]\n')
})

it('a defect shows its stack, and anything thrown is told', () => {
  const text = stripVTControlCharacters(explainFailure(new TypeError('x is not a function')))
  expect(text).toMatch(/^✗ Something went wrong inside Ratchet\.\nTypeError: x is not a function\n\s+at /)
  expect(stripVTControlCharacters(explainFailure('a string'))).toContain('a string')
})
