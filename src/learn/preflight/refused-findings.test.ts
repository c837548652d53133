import { expect, it } from 'vitest'
import { refusedFindings, type RefusalBound } from './refused-findings.ts'

const told = (bound: RefusalBound, ...refused: readonly number[]) =>
  refusedFindings(
    refused.map((refusedCalls, i) => ({ number: i + 1, refusedCalls, reward: 1 })),
    bound,
  ).map(({ severity, message, n, of }) => [severity, n, of, message])

it('finds nothing in demonstrations with fewer refused calls than end an episode', () => {
  expect(told({ toolErrors: 2, raised: 2 }, 0, 1, 1)).toEqual([])
})

it('says what the bound is raised to, or that it was given and is too low', () => {
  expect(told({ toolErrors: 2, raised: 6 }, 0, 2, 3)).toEqual([
    [
      'warn',
      2,
      3,
      '2 of 3 replayed demonstrations make 2 or more calls that the tools refuse, and an attempt ends at refused call 2. For example, demonstration 3 makes 3. An attempt ends at refused call 6 now.',
    ],
  ])
  expect(told({ toolErrors: 2, raised: null }, 0, 2, 3)).toMatchObject([
    ['stop', 2, 3, expect.not.stringContaining('now')],
  ])
  expect(told({ toolErrors: 2, raised: null }, 0, 0, 3)).toMatchObject([['warn', 1, 3, expect.anything()]])
})
