import { describe, expect, it } from 'vitest'
import { initialState, type RunState } from '../../run/state.ts'
import { endInWords, enough } from './enough.ts'
import { Schedule } from './schedule.ts'

/** A run whose validation came to this at update 0, and rose no more; its attempts neither. */
function still(success: number, update: number, over: Partial<RunState> = {}): RunState {
  const signs = Array.from({ length: update }, (_, i) => ({
    update: i + 1,
    groups: 32,
    informative: 16,
    overall: success,
  }))
  return {
    ...initialState,
    update,
    signs,
    best: { update: 0, success, rose: false },
    risen: { update: 0, success },
    ...over,
  }
}

describe('enough', () => {
  const schedule = Schedule.parse({ validateEvery: 8, patience: 1 })

  it.each([
    { success: 0.3, waits: 16 },
    { success: 0.5, waits: 24 },
    { success: 0.94, waits: 24 },
    { success: 0.96, waits: 8 },
  ])('waits $waits updates for a rise where $success succeeds', ({ success, waits }) => {
    expect(enough({ state: still(success, waits - 1), schedule })).toBeNull()
    expect(enough({ state: still(success, waits), schedule })).toBe('patience')
  })

  it('goes on while the success of attempts rises', () => {
    const { signs, ...rest } = still(0.7, 24)
    const rising = signs.map((sign, i) => ({ ...sign, overall: 0.7 + 0.01 * i }))
    expect(enough({ state: { ...rest, signs: rising }, schedule })).toBeNull()
  })

  it('tells the clock that ended it', () => {
    const timed = Schedule.parse({ seconds: 100, goodEnough: { success: 0.8, seconds: 60 } })
    const after = (success: number, learningSeconds: number) =>
      enough({ state: still(success, 4, { learningSeconds }), schedule: timed })
    expect(after(0.7, 60)).toBeNull()
    expect(after(0.8, 60)).toBe('goodEnough')
    expect(after(0.7, 100)).toBe('seconds')
    expect(endInWords('goodEnough', { state: still(0.8, 4) })).toBe(
      'The time is over, and 80 % of validation succeeds at best.',
    )
  })
})
