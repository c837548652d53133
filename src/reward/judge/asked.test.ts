import { expect, it } from 'vitest'
import { jsonIn } from './asked.ts'

it('the JSON of an answer is read, between fences or not', () => {
  expect(jsonIn('{"a": 1}')).toEqual({ a: 1 })
  expect(jsonIn('```json\n{"a": 1}\n```')).toEqual({ a: 1 })
  expect(jsonIn('``` \n\n[1]\n\n```')).toEqual([1])
  expect(jsonIn('```json {"a": 1}')).toBeUndefined()
  expect(jsonIn('no')).toBeUndefined()
})

it('lines without end are read once', () => {
  expect(jsonIn(`\`\`\`${'\n'.repeat(500_000)}x`)).toBeUndefined()
})
