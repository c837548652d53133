import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { fenced } from './writer.ts'

it('what a writer means stands between its first and its last fence', () => {
  expect(fenced('Here:\n```text\nBe brief.\n```\nDone.')).toBe('Be brief.')
  expect(fenced('```\na\n```\nand\n```\nb\n```')).toBe('a\n```\nand\n```\nb')
  expect(fenced('```\n\n```')).toBeNull()
  expect(fenced('```\nnever closed')).toBeNull()
  expect(fenced('closed\n```')).toBeNull()
  expect(fenced('Be brief.')).toBeNull()
})

it('is found as the expression of it says, in whatever is answered', () => {
  const piece = fc.constantFrom('```', '```md', '\n', '\n```', 'a', ' ', '`')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const answer = pieces.join('')
      const inside = /```[\w-]*\n([\s\S]*)\n```/.exec(answer)?.[1] ?? ''
      expect(fenced(answer)).toBe(inside.trim() === '' ? null : inside)
    }),
    { numRuns: 2_000 },
  )
})

it('is looked for once, however often an answer opens a fence', () => {
  expect(fenced('```\n x'.repeat(200_000))).toBeNull()
})
