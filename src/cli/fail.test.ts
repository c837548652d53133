import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { InputError } from '../errors/index.ts'
import { explainFailure } from './fail.ts'

it('what went wrong outside is one paragraph: what happened, what to do, the code', () => {
  const error = new InputError({ code: 'input/invalid', message: 'The key is wrong.', hint: 'Correct it.' })
  expect(stripVTControlCharacters(explainFailure(error))).toBe('✗ The key is wrong.\n  Correct it. [input/invalid]\n')
})

it('a defect says what to do, and names no file and no line unless it is debugged', () => {
  const defect = new TypeError('x is not a function')
  const text = stripVTControlCharacters(explainFailure(defect, false))
  expect(text).toBe(
    '✗ Something went wrong inside Ratchet. TypeError: x is not a function\n  This is a defect: please report it, with what this prints when RATCHET_DEBUG=1 is set.\n',
  )
  expect(stripVTControlCharacters(explainFailure(defect, true))).toMatch(/\n\s+at .*fail\.test\.ts:\d+:\d+/)
  expect(stripVTControlCharacters(explainFailure('a string'))).toContain('a string')
})
