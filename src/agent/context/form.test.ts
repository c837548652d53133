import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { folded, leftOut, type ToolMessage } from './form.ts'

const folding = { excerpt: 30, readBack: 'read_back' }
const result = (content: string): ToolMessage => ({
  role: 'tool',
  name: 'open',
  toolCallId: 'c1',
  isError: true,
  content,
  parts: [{ type: 'text', text: content }],
})
const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`).join('\n')

describe('a folded result', () => {
  it('has its head and its tail, cut at words, and says what is left out', () => {
    expect(folded(result(lines), 'r4', 'excerpt', folding)).toEqual({
      role: 'tool',
      name: 'open',
      toolCallId: 'c1',
      isError: true,
      content: 'line 0\nline 1\nline\n[… 124 characters of r4 left out; read_back r4 shows them …]\nline 19',
    })
  })

  it('is one line as a stub, which names no tool where there is none', () => {
    const stub = (readBack: string | null) => folded(result(lines), 'r4', 'stub', { ...folding, readBack }).content
    expect(stub('read_back')).toBe('[149 characters of r4 left out; read_back r4 shows them]')
    expect(stub(null)).toBe('[149 characters of r4 left out]')
  })

  it('stays whole where it would be no shorter', () => {
    const short = result('done')
    for (const form of ['whole', 'excerpt', 'stub'] as const) expect(folded(short, 'r1', form, folding)).toBe(short)
  })

  it('is never longer, and ends within no character', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.integer({ min: 16, max: 90 }),
        fc.constantFrom('excerpt' as const, 'stub' as const),
        (content, excerpt, form) => {
          const after = folded(result(content), 'r1', form, { ...folding, excerpt }).content
          expect(after.length).toBeLessThanOrEqual(content.length)
          expect(after).not.toMatch(/\p{Surrogate}/u)
        },
      ),
    )
  })
})

it('what is left out is named in ranges, and not without end', () => {
  const named = (ids: readonly number[]) =>
    leftOut(
      ids.map((id) => `r${id}`),
      { readBack: null },
    )
  expect(named([1, 2, 3, 5, 8, 9])).toBe('[Left out: turns with the results r1 to r3, r5, r8 to r9]')
  const many = named(Array.from({ length: 500 }, (_, i) => 2 * i))
  expect(many).toContain('and others')
  expect(many.length).toBeLessThan(120)
})
