import { expect, it } from 'vitest'
import {
  clock,
  count,
  cut,
  duration,
  figure,
  flatten,
  inline,
  moment,
  percent,
  plural,
  short,
  signed,
  words,
} from './format.ts'

it.each([
  [0, '0%'],
  [0.005, '0.5%'],
  [0.2266, '23%'],
  [0.9951, '99.5%'],
  [1, '100%'],
])('a share of %d is %s', (share, text) => expect(percent(share)).toBe(text))

it.each([
  [0, '0'],
  [0.93456, '0.935'],
  [-0.00303, '−0.00303'],
  [12345.6, '12346'],
  [7.2e-110, '7.2 × 10⁻¹¹⁰'],
  [3e9, '3.0 × 10⁹'],
])('%d reads %s', (value, text) => expect(figure(value)).toBe(text))

it.each([
  [42, '0:42', '42 s'],
  [252, '4:12', '4 min 12 s'],
  [7500, '2:05:00', '2 h 5 min'],
])('%d seconds read %s and %s', (seconds, asClock, asWords) => {
  expect(clock(seconds)).toBe(asClock)
  expect(duration(seconds)).toBe(asWords)
})

it('words numbers and names for people', () => {
  expect([short(950), short(7800), short(301_442), short(999_900), short(1_200_000)]).toEqual([
    '950',
    '7.8k',
    '301k',
    '1.0M',
    '1.2M',
  ])
  expect([plural(1, 'task'), plural(2048, 'task'), count(12_345)]).toEqual(['1 task', '2,048 tasks', '12,345'])
  expect([signed(0.5), signed(-0.5), words('uniformGroups')]).toEqual(['+0.5', '−0.5', 'uniform groups'])
  expect(moment(Date.UTC(2026, 10, 20, 6, 31))).toBe('20 Nov 2026, 06:31 UTC')
})

it('says how much of a text it leaves out', () => {
  expect(cut('abc', 3)).toBe('abc')
  expect(cut('abcdef', 3)).toBe('abc … 3 more characters')
})

it('flattens a nested value to its leaves', () => {
  expect(flatten({ a: { b: 1, c: [1, 2] }, d: null })).toEqual([
    { path: ['a', 'b'], leaf: 1 },
    { path: ['a', 'c'], leaf: [1, 2] },
    { path: ['d'], leaf: null },
  ])
  expect(inline([0.12345, null, 'x'])).toBe('[0.123, none, x]')
})
