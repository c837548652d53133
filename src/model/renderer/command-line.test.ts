import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AssistantMessage, Json, ToolDefinition } from '../../core/index.ts'
import { commandLine } from './command-line.ts'
import { hostileText } from './renderer.conformance.ts'

const tools: readonly ToolDefinition[] = [
  { name: 'list', description: '', parameters: { type: 'object', properties: {} } },
  { name: 'page', description: '', parameters: { type: 'object', properties: { number: { type: 'integer' } } } },
  {
    name: 'send',
    description: '',
    parameters: {
      type: 'object',
      properties: {
        to: { type: 'string' },
        body: { type: ['string', 'null'] },
        tags: { type: 'array' },
        urgent: { type: 'boolean' },
      },
    },
  },
]

const call = (name: string, values: Record<string, Json>): AssistantMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name, arguments: values }],
})

const anyCall = fc.oneof(
  fc.constant(call('list', {})),
  fc.integer().map((number) => call('page', { number })),
  fc
    .record(
      { to: hostileText, body: hostileText, tags: fc.array(fc.oneof(hostileText, fc.integer())), urgent: fc.boolean() },
      { requiredKeys: [] },
    )
    .map((values) => call('send', { ...values })),
)

describe('commandLine', () => {
  it('reads back what it writes, whatever the parameters', () => {
    fc.assert(
      fc.property(anyCall, (message) => {
        expect(commandLine.read(commandLine.write(message, tools), tools)).toEqual(message)
      }),
    )
  })

  it.each([
    [call('list', {}), ' list\n'],
    [call('page', { number: 3 }), ' page 3\n'],
    [call('send', { to: 'ann', body: 'see you', urgent: true }), ' send to=ann body="see you" urgent=true\n'],
    [call('send', { tags: ['a b', 1] }), ' send tags=["a b",1]\n'],
  ])('writes $toolCalls as %j', (message, line) => {
    expect(commandLine.write(message, tools)).toBe(line)
  })

  it('leaves out the only parameter where the tool does not require it, and only there', () => {
    const list = (required?: string[]): ToolDefinition => ({
      name: 'list',
      description: '',
      parameters: { type: 'object', properties: { shelf: { type: 'string' } }, ...(required && { required }) },
    })
    for (const optional of [list(), list([])]) {
      const written = commandLine.write(call('list', {}), [optional])
      expect(commandLine.read(written, [optional])).toEqual(call('list', {}))
    }
    const refused = commandLine.read(' list\n', [list(['shelf'])])
    expect(refused.malformedCalls?.[0]?.problem).toBe('list needs an argument.')
  })

  it.each([' page 3\n\t', ' page 3 \n   ', ' page 3\n\n'])('a line may end in more white space: %j', (line) => {
    expect(commandLine.read(line, tools)).toEqual(call('page', { number: 3 }))
  })

  it('gives text without keys to the first text parameter', () => {
    expect(commandLine.read(' send ann, quickly\n', tools)).toEqual(call('send', { to: 'ann, quickly' }))
  })

  it.each([
    [' list all\n', /takes no argument/],
    [' page two\n', /number is not JSON/],
    [' send to=ann to=bob\n', /given twice/],
    [' send to=ann cc=bob\n', /no parameter "cc": there are to, body, tags, urgent/],
    [' send to=ann hurry\n', /pair was expected, not "hurry"/],
    [' send tags=[1,\n', /tags is not JSON/],
  ])('takes %j for malformed', (line, problem) => {
    expect(commandLine.read(line, tools).malformedCalls?.[0]?.problem).toMatch(problem)
  })
})

describe('words for the user, where there are tools', () => {
  const says = (content: string): AssistantMessage => ({ role: 'assistant', content })

  it('are a command of their own, and come back as they were said', () => {
    expect(commandLine.write(says('edge 112'), tools)).toBe(' say edge 112\n')
    expect(commandLine.read(' say edge 112\n', tools)).toEqual(says('edge 112'))
    const line = hostileText.filter((text) => text.trim() !== '' && !text.includes('\n'))
    fc.assert(
      fc.property(line, (content) => {
        expect(commandLine.read(commandLine.write(says(content), tools), tools)).toEqual(says(content))
      }),
    )
  })

  it.each([' say \n', ' say\n', ' say more than\na line\n', ' say without an end'])('are not %j', (text) => {
    expect(commandLine.read(text, tools).malformedCalls).toHaveLength(1)
  })

  it('are a call where a tool is called say', () => {
    const say = { name: 'say', description: '', parameters: { type: 'object', properties: { text: {} } } }
    expect(commandLine.read(' say "hello"\n', [say]).toolCalls).toEqual([{ name: 'say', arguments: { text: 'hello' } }])
  })
})
