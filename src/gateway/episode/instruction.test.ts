import { expect, it } from 'vitest'
import type { Message } from '../../core/index.ts'
import { instructionOf } from './instruction.ts'

const said = (role: 'system' | 'user' | 'assistant', content: string): Message => ({ role, content })

it.each<[string, readonly Message[], string]>([
  ['the first thing that the user said', [said('system', 's'), said('user', ' u '), said('user', 'v')], 'u'],
  ['the first that is no picture', [said('user', ' \n'), said('user', 'v')], 'v'],
  ['what was said without a user', [said('system', 's'), said('assistant', 'a')], 's'],
  ['something for nothing', [said('user', '')], '(empty)'],
  ['something for a picture', [{ role: 'user', content: '', parts: [{ type: 'image_url' }] }], '(no text)'],
  ['what a database can hold', [said('user', 'a\u0000b\uD800c\nd')], 'a b c\nd'],
])('is %s', (_, messages, expected) => {
  expect(instructionOf(messages)).toBe(expected)
})

it('is cut between characters', () => {
  const text = instructionOf([said('user', '😀'.repeat(5_000))])
  expect(Array.from(text)).toHaveLength(2_000)
  expect(instructionOf([said('user', 'x'.repeat(16_000_000))])).toHaveLength(2_000)
})
