import { expect, it } from 'vitest'
import { InvariantError } from '../../errors/index.ts'
import { verify } from './verify.ts'

const final = (answer: string | null) => ({ state: { task: 't', answer, accepted: ['edge 112', '112'] }, counts: {} })

it.each([
  ['edge 112', 1],
  ['112', 1],
  [' EDGE\t112 ', 1],
  ['edge112', 0],
  ['edge 11', 0],
  ['chrome 112', 0],
  ['edge 112.', 0],
  [null, 0],
] as const)('gives %j %d', (answer, expected) => {
  expect(verify(final(answer))).toBe(expected)
})

it('refuses the final state of another environment', () => {
  expect(() => verify({ state: { answer: '112' }, counts: {} })).toThrow(InvariantError)
})
