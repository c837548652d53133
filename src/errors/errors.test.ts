import { expect, it } from 'vitest'
import { InputError, InvariantError, present, RatchetError } from './index.ts'

it('carries what happened, what to do next, and the cause', () => {
  const cause = new Error('disk full')
  const error = new InputError({ code: 'input/x', message: 'It broke.', hint: 'Mend it.', cause })
  expect(error).toMatchObject({ name: 'InputError', code: 'input/x', message: 'It broke.', hint: 'Mend it.', cause })
  expect(error).toBeInstanceOf(Error)
})

it('knows its own, from any copy of the package, and nothing else', () => {
  expect(RatchetError.is(new InvariantError('x'))).toBe(true)
  expect(RatchetError.is({ [Symbol.for('ratchet.error')]: true })).toBe(true)
  for (const other of [new Error('x'), null, undefined, 'ratchet.error', {}]) expect(RatchetError.is(other)).toBe(false)
})

it('narrows what is there, and names what is missing', () => {
  for (const value of [0, '', false, Number.NaN]) expect(present(value, 'it')).toBe(value)
  for (const value of [null, undefined]) expect(() => present(value, 'the answer')).toThrow('the answer is missing')
})
