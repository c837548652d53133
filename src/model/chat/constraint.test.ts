import { describe, expect, it } from 'vitest'
import { ask, gather } from '../../../test/support/chat-answers.ts'
import { scriptedService, type ScriptedServiceOptions } from '../../../test/support/scripted-service.ts'
import { UnusableGrammarError } from '../embedded/index.ts'
import { chatUpstream } from './chat-upstream.ts'

const tool = (name: string, parameters: object = { type: 'object', properties: {} }) => ({
  type: 'function',
  function: { name, parameters },
})
const tools = [tool('search', { properties: { q: { type: 'string' } } }), tool('open')]
const called = '<tool_call>\n{"name": "search", "arguments": {"q": "a"}}\n</tool_call>'
const callOf = (name: string, schema: object) => ({
  kind: 'sequence',
  of: [
    { kind: 'text', text: `<tool_call>\n{"name": "${name}", "arguments": ` },
    { kind: 'json', schema },
    { kind: 'text', text: '}\n</tool_call>' },
  ],
})
const search = callOf('search', { type: 'object', properties: { q: { type: 'string' } } })
const opens = callOf('open', { type: 'object', properties: {} })
const anyCall = { kind: 'or', of: [search, opens] }
const calls = { kind: 'several', of: anyCall, between: '\n' }
const schema = { type: 'object', properties: { a: { type: 'integer' } } }

function open(said: string, options: ScriptedServiceOptions = {}) {
  const service = scriptedService(() => [said], { grammars: true, ...options })
  return { service, upstream: chatUpstream({ name: 'embedded', service }) }
}

describe('an answer is held to', () => {
  it.each<[string, object, object | undefined]>([
    ['any calls', { tools, tool_choice: 'required' }, calls],
    ['one call', { tools, tool_choice: 'required', parallel_tool_calls: false }, anyCall],
    [
      'a call by name',
      { tools, tool_choice: { type: 'function', function: { name: 'open' } } },
      { kind: 'or', of: [opens] },
    ],
    ['an object', { response_format: { type: 'json_object' } }, { kind: 'json', schema: { type: 'object' } }],
    [
      'a schema',
      { response_format: { type: 'json_schema', json_schema: { name: 's', schema, strict: true } } },
      { kind: 'json', schema },
    ],
    [
      'a schema, or calls',
      { tools, response_format: { type: 'json_object' } },
      {
        kind: 'or',
        of: [{ kind: 'json', schema: { type: 'object' } }, calls],
      },
    ],
    [
      'a schema, where it must not call',
      { tools, tool_choice: 'none', response_format: { type: 'json_object' } },
      { kind: 'json', schema: { type: 'object' } },
    ],
    ['nothing', { tools, tool_choice: 'auto', response_format: { type: 'text' } }, undefined],
  ])('%s', async (_, request, grammar) => {
    const { service, upstream } = open(called)
    for (const more of [{}, { stream: true }]) {
      await gather(await ask(upstream, { ...request, ...more }))
      expect(service.requests.at(-1)?.params.grammar).toEqual(grammar)
    }
  })

  it('a call, and is told as one; cut by its length, it ends so', async () => {
    const asked = { tools, tool_choice: 'required' }
    const { choices } = await gather(await ask(open(called).upstream, asked))
    expect(choices[0]).toMatchObject({
      content: '',
      toolCalls: [{ name: 'search', arguments: '{"q":"a"}' }],
      finish: 'tool_calls',
    })
    const cut = await gather(await ask(open(called).upstream, { ...asked, max_tokens: 12 }))
    expect(cut.choices[0]).toMatchObject({ toolCalls: [], finish: 'length' })
  })
})

describe('refused is', () => {
  it.each<[string, object, string, string]>([
    [
      'a tool that is not there',
      { tools, tool_choice: { type: 'function', function: { name: 'gone' } } },
      'invalid_value',
      'tool_choice',
    ],
    ['a call without tools', { tool_choice: 'required' }, 'invalid_value', 'tool_choice'],
    [
      'a choice that nobody knows',
      { tools, tool_choice: { type: 'allowed_tools' } },
      'unsupported_tool_choice',
      'tool_choice',
    ],
    ['another choice that nobody knows', { tools, tool_choice: 'any' }, 'unsupported_tool_choice', 'tool_choice'],
    [
      'a format that nobody knows',
      { response_format: { type: 'xml' } },
      'unsupported_response_format',
      'response_format',
    ],
    [
      'a format without a schema',
      { response_format: { type: 'json_schema', json_schema: { name: 's' } } },
      'unsupported_response_format',
      'response_format',
    ],
  ])('%s', async (_, request, code, param) => {
    await expect(ask(open('').upstream, request)).rejects.toMatchObject({
      kind: 'refused',
      status: 400,
      body: { error: { code, param } },
    })
  })

  it.each<[object, string, string]>([
    [{ response_format: { type: 'json_object' } }, 'unsupported_response_format', 'response_format'],
    [{ tools, tool_choice: 'required' }, 'unsupported_tool_choice', 'tool_choice'],
  ])('what the sampler cannot hold: %j', async (request, code, param) => {
    const { upstream } = open('', { fails: new UnusableGrammarError('its schema is strange.', 'Ask otherwise.') })
    for (const more of [{}, { stream: true }])
      await expect(ask(upstream, { ...request, ...more })).rejects.toMatchObject({
        kind: 'refused',
        status: 400,
        body: { error: { code, param, message: expect.stringContaining('strange') as string } },
      })
  })
})
