import { expect, it } from 'vitest'
import { Release } from './release.ts'

const release = { id: 'r', agent: 'support', versions: { system: 'v0' }, createdAt: 1 }
const accepted = (origin: object) => Release.safeParse({ ...release, ...origin }).success

it('is the initial one, which no run made, or one that a receipt made', () => {
  expect(accepted({ receipt: null, run: null })).toBe(true)
  expect(accepted({ receipt: 'receipt', run: 'run-1' })).toBe(true)
  expect(accepted({ receipt: 'receipt', run: null })).toBe(true)
  expect(accepted({ receipt: null, run: 'run-1' })).toBe(false)
  expect(accepted({ receipt: null, run: null, note: 'unknown' })).toBe(false)
})
