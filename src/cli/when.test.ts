import { describe, expect, it } from 'vitest'
import { lengthOf, minuteOf, moment } from './when.ts'

const now = Date.UTC(2026, 10, 20, 12, 0, 0)

describe('a moment that a person names', () => {
  it.each([
    ['90s', now - 90_000],
    ['30m', now - 1_800_000],
    ['2h', now - 7_200_000],
    ['7d', now - 604_800_000],
    ['2w', now - 1_209_600_000],
    ['2026-11-19', Date.UTC(2026, 10, 19)],
    ['2026-11-19 08:30', Date.UTC(2026, 10, 19, 8, 30)],
    ['2026-11-19T08:30:15+02:00', Date.UTC(2026, 10, 19, 6, 30, 15)],
  ])('%s', (text, at) => {
    expect(moment(text, now)).toBe(at)
  })

  it.each(['', 'yesterday', '5', '2026-13-01', '2026-11-19T25:00', '-2h', '1e3s', '2026'])('refuses "%s"', (text) => {
    expect(() => moment(text, now)).toThrow('neither a date nor a time ago')
  })
})

it('shows moments and lengths for people', () => {
  expect(minuteOf(now)).toBe('2026-11-20 12:00')
  expect(minuteOf(Number.NaN)).toBe('?')
  expect([400, 12_000, 300_000, 10_800_000, 172_800_000].map(lengthOf)).toEqual([
    '0.4 s',
    '12 s',
    '5 min',
    '3 h',
    '2 d',
  ])
})
