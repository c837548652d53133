import { describe, expect, it } from 'vitest'
import { leakCheck } from './leak-check.ts'

const task = (instruction: string, data: Parameters<typeof leakCheck>[0]['guarded'][number]['data'] = null) => ({
  instruction,
  data,
})

describe('a leak', () => {
  it('is eight words in a row that only guarded tasks hold, whatever their case and punctuation', () => {
    const leaks = leakCheck({
      guarded: [task('In which year did the harbour of Altona open its second dock?')],
      known: [],
    })
    expect(leaks('Hint: "Did the Harbour of ALTONA, open its second…"')).toBe(true)
    expect(leaks('Did the harbour of Altona open its first dock?')).toBe(false)
  })

  it('is the whole of a shorter instruction, and a text of the data', () => {
    const leaks = leakCheck({
      guarded: [task('Cancel order number 961'), task('x', { accept: ['the old town hall'], code: 'QX-Altona7719' })],
      known: [],
    })
    expect(leaks('If asked: cancel order number 961, refuse.')).toBe(true)
    expect(leaks('Cancel order number 962')).toBe(false)
    expect(leaks('It is the old town hall')).toBe(true)
    expect(leaks('the old hall')).toBe(false)
  })

  it('is no short answer, which any text may hold, but a long word is', () => {
    const leaks = leakCheck({ guarded: [task('a b', { answer: 'Firefox', digest: 'c0ffee1234567890' })], known: [] })
    expect(leaks('Firefox')).toBe(false)
    expect(leaks('c0ffee1234567890')).toBe(true)
  })

  it('is nothing that tasks to learn from hold too, or that the text held before', () => {
    const guarded = [task('Which release of the browser was the first that could do it?')]
    expect(leakCheck({ guarded, known: [] })('release of the browser was the first that could')).toBe(true)
    const known = [task('And which release of the browser was the first that could do it, please?')]
    expect(leakCheck({ guarded, known })('which release of the browser was the first that could do it')).toBe(false)
    const before = 'Say which release of the browser was the first that could do it.'
    expect(leakCheck({ guarded, known: [] })(`${before} Be brief.`, before)).toBe(false)
  })
})
