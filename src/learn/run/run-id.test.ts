import { expect, it } from 'vitest'
import { newRunId } from './run-id.ts'
import { scheduleOf } from '../source/rollouts/schedule-of.ts'

it('names runs by the moment they began', () => {
  const at = Date.UTC(2026, 10, 20, 7, 8, 9)
  expect(newRunId(at, () => 0)).toBe('run-20261120070809-0000')
  expect(newRunId(at, () => 0.9999999)).toBe('run-20261120070809-zzzz')
})

it('fills in a schedule, and passes without demonstrations are none', () => {
  expect(scheduleOf({ prime: { demonstrations: [] } })).toMatchObject({ updates: 96, attempts: 4 })
  expect(scheduleOf({ prime: { demonstrations: [] } }).primePasses).toBeUndefined()
  expect(scheduleOf({ schedule: { primePasses: 9, updates: 2 } })).toMatchObject({ primePasses: 0, updates: 2 })
})

it('names the key that was meant', () => {
  expect(() => scheduleOf({ schedule: { attemps: 3 } as never })).toThrow('did you mean "attempts"?')
})
