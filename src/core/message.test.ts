import { describe, expect, it } from 'vitest'
import { isUsers, Message, rememberedBy, ToolDefinition } from './message.ts'

describe('Message', () => {
  it.each([
    { role: 'system', content: '' },
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: '', toolCalls: [{ name: 'search', arguments: { q: ['a', 1, null] } }] },
    { role: 'assistant', content: '', malformedCalls: [{ text: '!x {', problem: 'not JSON' }] },
    { role: 'tool', content: 'nothing', name: 'search', toolCallId: 'c1', isError: true },
  ])('reads %j unchanged', (message) => {
    expect(Message.parse(message)).toEqual(message)
  })

  it.each([
    ['a role that does not exist', { role: 'critic', content: '' }],
    ['calls that are not the assistant’s', { role: 'user', content: '', toolCalls: [] }],
    ['an error flag that is not a tool’s', { role: 'assistant', content: '', isError: true }],
    ['a tool without a name', { role: 'tool', content: '' }],
    ['no content', { role: 'user' }],
    ['an unknown key', { role: 'user', content: '', cotent: 'x' }],
    ['a call without a name', { role: 'assistant', content: '', toolCalls: [{ name: '', arguments: {} }] }],
    ['arguments that are no object', { role: 'assistant', content: '', toolCalls: [{ name: 'f', arguments: [] }] }],
  ])('refuses %s', (_, message) => {
    expect(Message.safeParse(message).success).toBe(false)
  })
})

it('tells what a user says from what we put in their place', () => {
  const said = { role: 'user', content: 'hello' } as const
  expect([said, { ...said, name: 'ada' }, { ...said, name: rememberedBy }].map(isUsers)).toEqual([true, true, false])
  expect(isUsers({ role: 'assistant', content: '' })).toBe(false)
})

it.each(['', '.st', '-st', 'a b', 'a\nb', 'x'.repeat(65)])('a tool cannot be called %j', (name) => {
  expect(ToolDefinition.safeParse({ name, description: '', parameters: {} }).success).toBe(false)
})
