import { expect, it } from 'vitest'
import type { Message } from '../core/index.ts'
import { InputError } from '../errors/index.ts'
import { explainFailure } from './fail.ts'
import { shown } from './show-fresh-questions.ts'

it('shows every word of a turn, and nothing of it reaches the terminal as a command (invariant 10)', () => {
  const hostile = 'red\u001b[2J\u0007\u009b31m'
  const messages: readonly Message[] = [
    { role: 'user', content: hostile },
    {
      role: 'assistant',
      content: hostile,
      toolCalls: [{ name: 'answer', arguments: { text: hostile } }],
      malformedCalls: [{ text: hostile, problem: 'not a call' }],
    },
    { role: 'tool', name: 'open', content: `${hostile}\nsecond line` },
  ]
  const lines = messages.flatMap(shown)
  expect(lines).toHaveLength(6)
  for (const line of lines.slice(0, 5)) expect(line).toContain('red�[2J��31m')
})

it('nor does an error that quotes a file', () => {
  const told = explainFailure(
    new InputError({ code: 'input/invalid', message: 'unknown key "\u001b[2J"', hint: 'x\r' }),
  )
  expect(told).toContain('unknown key "�[2J"')
  expect(told).not.toContain('\r')
})
