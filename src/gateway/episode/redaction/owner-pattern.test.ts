import { expect, it } from 'vitest'
import { within } from './owner-pattern.ts'

it('ends a regular expression that takes for ever', () => {
  expect(within(20, () => /(?:a+)+b/.test('a'.repeat(48)))).toBeNull()
})

it('asks again what was late because others had the processor', () => {
  const asleep = new Int32Array(new SharedArrayBuffer(4))
  let asked = 0
  const answer = within(20, () => {
    asked += 1
    if (asked === 1) Atomics.wait(asleep, 0, 0, 200)
    return 'in time'
  })
  expect(answer).toEqual({ value: 'in time' })
  expect(asked).toBe(2)
})

it('passes on what goes wrong', () => {
  expect(() =>
    within(1_000, () => {
      throw new RangeError('too deep')
    }),
  ).toThrow(RangeError)
})
