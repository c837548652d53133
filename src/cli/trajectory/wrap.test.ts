import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { wrapped } from './wrap.ts'

it('breaks a line between words, and goes on under it', () => {
  const line = `  ${'word '.repeat(12)}end`
  expect(wrapped(line, 40).split('\n')).toEqual([
    '  word word word word word word word',
    '    word word word word word end',
  ])
})

it('goes on beside the branches of a tree', () => {
  const line = `│  ├─ ${'word '.repeat(9)}end`
  expect(wrapped(line, 40).split('\n')[1]).toBe('│       word word end')
})

it('leaves what fits, what has no words, and narrow screens', () => {
  expect(wrapped('a b\nc', 80)).toBe('a b\nc')
  expect(wrapped('x'.repeat(100), 40)).toBe('x'.repeat(100))
  expect(wrapped('a '.repeat(100), 20)).toBe('a '.repeat(100))
})

it('does not count what colours a line', () => {
  const red = `\u001b[31m${'a'.repeat(38)}\u001b[39m`
  expect(wrapped(red, 40)).toBe(red)
})

it('loses no word, and no line is wider than the screen but by one word', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { maxLength: 60 }),
      fc.integer({ min: 40, max: 90 }),
      (words, columns) => {
        const lines = wrapped(words.join(' '), columns).split('\n')
        expect(lines.flatMap((line) => line.split(' ').filter((word) => word !== ''))).toEqual(words)
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
      },
    ),
  )
})
