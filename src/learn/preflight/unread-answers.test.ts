import { describe, expect, it } from 'vitest'
import type { Message } from '../../core/index.ts'
import { unreadAnswers } from './unread-answers.ts'
import type { WrittenDemonstration } from './written-demonstration.ts'

/** Asks for a part's length, opens its page, and answers. */
const answering = (i: number, page: string, answer: string): WrittenDemonstration => ({
  messages: [
    { role: 'user', content: `How long is part-${i}?` },
    { role: 'assistant', content: '', toolCalls: [{ name: 'open', arguments: { title: `part-${i}` } }] },
    { role: 'tool', name: 'open', content: page },
    { role: 'assistant', content: '', toolCalls: [{ name: 'answer', arguments: { text: answer } }] },
    { role: 'tool', name: 'answer', content: answer },
  ],
})
const many = (n: number, one: (i: number) => WrittenDemonstration) => Array.from({ length: n }, (_, i) => one(i))

describe('answers that nothing told', () => {
  it('are found where most demonstrations end in one', () => {
    expect(unreadAnswers(many(16, (i) => answering(i, 'A page.', `${i + 100} mm`)))).toMatchObject([
      {
        severity: 'warn',
        code: 'learn/unread-answer',
        message:
          '16 of 16 demonstrations end with words that stand in nothing that was read before. For example, demonstration 1 says "100 mm".',
        n: 16,
        of: 16,
      },
    ])
  })

  it('are none where a page, the question or both hold the words, in any case', () => {
    expect(unreadAnswers(many(16, (i) => answering(i, `Length: ${i + 100} MM`, `part-${i}: ${i + 100} mm`)))).toEqual(
      [],
    )
  })

  it('are none where few differ: labels are chosen, not read', () => {
    expect(unreadAnswers(many(16, (i) => answering(i, 'A page.', ['full', 'half', 'none'][i % 3] ?? '')))).toEqual([])
  })

  it('are none of half of the demonstrations, or of few', () => {
    const half = many(16, (i) => answering(i, i < 8 ? `${i + 100}` : 'A page.', `${i + 100}`))
    expect(unreadAnswers(half)).toEqual([])
    expect(unreadAnswers(many(7, (i) => answering(i, 'A page.', `${i + 100}`)))).toEqual([])
  })

  it('are none where an image was seen, which may hold them', () => {
    const parts: Message['parts'] = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,' } }]
    const seen = (i: number): WrittenDemonstration => ({
      messages: [
        { role: 'user', content: 'How much?', parts },
        { role: 'assistant', content: `${i + 100}` },
      ],
    })
    expect(unreadAnswers(many(16, seen))).toEqual([])
  })
})
