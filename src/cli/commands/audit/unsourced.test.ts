import { describe, expect, it } from 'vitest'
import { unsourced } from './unsourced.ts'

const message = (role: 'user' | 'assistant' | 'tool', content: string) => ({ role, content, calls: [], cut: false })
const asked = message('user', 'When does order 31337 arrive?')

describe('facts that nobody said but the agent', () => {
  it('are what it makes up, quoted or not; what a tool or the person said is none', () => {
    expect(unsourced([asked, message('assistant', 'Log: “2026-03-05”. Order 31337.')])).toEqual(['2026-03-05'])
    const looked = message('tool', '{"order":"31337","arrives":"2026-03-05"}')
    expect(unsourced([asked, looked, message('assistant', '31337 arrives on 2026-03-05.')])).toEqual([])
    expect(unsourced([asked, message('assistant', 'Shelf B-204, 12.50 €, １２月３日 at 09:30.')])).toEqual([
      'B-204',
      '12.50',
      '１２月３日',
      '09:30',
    ])
  })

  it('count where they are said later only, and each once, five at most', () => {
    const later = message('user', 'So 2026-03-05?')
    expect(unsourced([asked, message('assistant', '2026-03-05.'), later])).toEqual(['2026-03-05'])
    const many = Array.from({ length: 9 }, (_, i) => `10${i} 10${i}`).join(' ')
    expect(unsourced([message('assistant', many)])).toEqual(['100', '101', '102', '103', '104'])
    expect(unsourced([message('assistant', 'Of course.')])).toEqual([])
  })
})
