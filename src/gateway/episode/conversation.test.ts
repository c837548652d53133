import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message, WireMessage } from '../../core/index.ts'
import { after, beginning, conversationOf, type Point } from './conversation.ts'
import { requestOf, says } from './recorder.conformance.ts'
import { redactionOf } from './redaction/index.ts'
import { saysTheSame, type SpokenCall } from './spoken.ts'

const endOf = async (...messages: WireMessage[]): Promise<Point> =>
  (await conversationOf(requestOf(messages), redactionOf([]))).points.at(-1) ?? beginning
const call = (name: string, written: string, id = 'call_1') => ({
  id,
  type: 'function',
  function: { name, arguments: written },
})
const calling = (...calls: ReturnType<typeof call>[]): WireMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: calls,
})

describe('is the same conversation', () => {
  it.each<[string, WireMessage[], WireMessage[]]>([
    ['with empty content', [calling(call('f', '{"a":1}'))], [{ ...calling(call('f', '{"a":1}')), content: '' }]],
    [
      'with its text in parts',
      [{ role: 'assistant', content: 'ab' }],
      [
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'a', annotations: [] },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    ],
    [
      'with its arguments written anew',
      [calling(call('f', '{"b":[1.0],\n"a":"\\u00fc"}'))],
      [calling(call('f', '{"a":"ü","b":[1]}'))],
    ],
    [
      'without reasoning and refusal',
      [{ role: 'assistant', content: 'a', reasoning_content: 'r', refusal: 'no' }],
      [
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'r' },
            { type: 'text', text: 'a' },
          ],
          refusal: null,
        },
      ],
    ],
    [
      'in two messages',
      [{ role: 'assistant', content: 'a', tool_calls: [call('f', '{"a":1}')] }],
      [{ role: 'assistant', content: 'a' }, calling(call('f', '{"a":1}'))],
    ],
    ['with the developer as the system', [{ role: 'developer', content: 's' }], [says('system', 's')]],
    ['whose calls cannot be read', [calling(call('f', '{"a'))], [calling(call('f', '{}', 'call_2'))]],
  ])('%s', async (_, one, other) => {
    expect((await endOf(says('user', 'q'), ...other, says('user', 'x'))).exact).toBe(
      (await endOf(says('user', 'q'), ...one, says('user', 'x'))).exact,
    )
  })

  it('of thousands of assistant messages in a row is read in the time of its length', async () => {
    const many = Array.from({ length: 4_000 }, () => ({
      role: 'assistant' as const,
      content: 'x'.repeat(1_000),
    }))
    const { points } = await conversationOf(requestOf(many), redactionOf([]))
    expect(new Set(points.map(({ exact }) => exact)).size).toBe(4_000)
    expect(Math.max(...points.map(({ spoken }) => spoken?.text.length ?? 0))).toBeLessThan(10_000)
  })

  it('where a model’s unreadable call is in its text already', async () => {
    const text = '<tool_call>nonsense</tool_call>'
    const said: Message = { role: 'assistant', content: text, malformedCalls: [{ text: 'nonsense', problem: 'p' }] }
    expect(after(beginning, said).exact).toBe((await endOf({ role: 'assistant', content: text })).exact)
  })
})

describe('is another conversation', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } })
  it.each<[string, WireMessage[], WireMessage[]]>([
    ['with another text', [says('user', 'a')], [says('user', 'b')]],
    ['by another role', [says('user', 'a')], [says('system', 'a')]],
    ['by another person', [{ role: 'user', content: 'a', name: 'jo' }], [{ role: 'user', content: 'a' }]],
    ['with another picture', [{ role: 'user', content: [image('a')] }], [{ role: 'user', content: [image('b')] }]],
    ['cut elsewhere', [says('user', 'a'), says('user', 'b')], [says('user', 'ab')]],
    ['with another call', [calling(call('f', '{"a":1}'))], [calling(call('g', '{"a":1}'))]],
    ['with the id of another call', [calling(call('f', '{"a":1}'))], [calling(call('f', '{"a":1}', 'call_2'))]],
    ['with other arguments', [calling(call('f', '{"a":1}'))], [calling(call('f', '{"a":2}'))]],
    [
      'with another call’s result',
      [{ role: 'tool', content: 'r', tool_call_id: 'call_1' }],
      [{ role: 'tool', content: 'r', tool_call_id: 'call_2' }],
    ],
  ])('%s', async (_, one, other) => {
    expect((await endOf(...other)).exact).not.toBe((await endOf(...one)).exact)
  })

  it('whatever words it is made of', async () => {
    const role = fc.constantFrom<'user' | 'system'>('user', 'system')
    const messages = fc.array(fc.record({ role, content: fc.string() }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(messages, messages, async (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other))
        expect((await endOf(...one)).exact).not.toBe((await endOf(...other)).exact)
      }),
    )
  })
})

describe('the calls of a turn', () => {
  const made = (name: string, values: SpokenCall['arguments'], id: string | null = name): SpokenCall => ({
    id,
    name,
    arguments: values,
  })
  it.each<[string, SpokenCall[], SpokenCall[]]>([
    ['gain defaults', [made('f', { a: 1 })], [made('f', { a: 1, limit: 10 })]],
    ['lose what the tool does not know', [made('f', { a: { b: 1, c: 2 } })], [made('f', { a: { b: 1 } })]],
    ['vanish when they cannot be read', [made('f', null, null), made('g', { a: 1 })], [made('g', { a: 1 })]],
    ['vanish when they say nothing', [made('f', {}), made('g', { a: 1 })], [made('g', { a: 1 })]],
    ['are emptied when they cannot be read', [made('f', null, null)], [made('f', {}, 'call_9')]],
    ['gain defaults where they said nothing', [made('f', {})], [made('f', { limit: 10 })]],
  ])('%s, and are the same', (_, said, sent) => {
    expect(saysTheSame(said, sent)).toBe(true)
  })

  it.each<[string, SpokenCall[], SpokenCall[]]>([
    ['another value', [made('f', { a: 1 })], [made('f', { a: 2 })]],
    ['another item', [made('f', { a: [1, 2] })], [made('f', { a: [1] })]],
    ['another value inside', [made('f', { a: { b: 1 } })], [made('f', { a: { b: '1' } })]],
    ['another tool', [made('f', { a: 1 })], [made('g', { a: 1 })]],
    ['a call too few', [made('f', { a: 1 }), made('g', { a: 1 })], [made('g', { a: 1 })]],
    ['a call too many', [made('f', { a: 1 })], [made('f', { a: 1 }), made('g', { a: 1 })]],
    ['another order', [made('f', { a: 1 }), made('g', { a: 1 })], [made('g', { a: 1 }), made('f', { a: 1 })]],
    ['words for one that could not be read', [made('f', null, null)], [made('f', { a: 1 })]],
  ])('with %s are others', (_, said, sent) => {
    expect(saysTheSame(said, sent)).toBe(false)
  })
})
