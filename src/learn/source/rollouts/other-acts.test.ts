import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampledSpan } from '../../../../test/support/trajectories.ts'
import { type Json, type Message, NodeId, type ToolDefinition } from '../../../core/index.ts'
import { otherActs } from './other-acts.ts'

const tool = (name: string, properties: Record<string, Json>, required = Object.keys(properties)): ToolDefinition => ({
  name,
  description: '',
  parameters: { type: 'object', properties, required },
})
const text = { type: 'string' }
const tools = [
  tool('order', { id: text }),
  tool('refund', { id: text }),
  tool('replace', { id: text, note: text }, ['id']),
  tool('move', { words: text }),
  tool('rate', { id: text, stars: { enum: [1, 2, 3] }, anonymous: { type: 'boolean' } }, ['id']),
  tool('done', {}),
]

const says = (name: string, given: Record<string, Json>, content = ''): Message => ({
  role: 'assistant',
  content,
  toolCalls: [{ name, arguments: given }],
})
const shows = (content: string): Message => ({ role: 'tool', name: 'order', content })
const actsOf = (messages: readonly Message[], offered = tools) =>
  otherActs(
    {
      nodes: messages.map((message, i) => ({
        id: NodeId.parse(`n${i}`),
        parent: null,
        message,
        spans: message.role === 'assistant' ? [sampledSpan([i])] : [],
      })),
    },
    offered,
  )
/** What would be called instead: the change, the turn, and each call's arguments. */
const told = (messages: readonly Message[], offered = tools) =>
  actsOf(messages, offered).map(({ change, turn, message }) => [
    change,
    turn,
    ...(message.toolCalls ?? []).map(
      ({ name, arguments: given }) => `${name} ${Object.values(given).map(plain).join(', ')}`,
    ),
  ])

const plain = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

describe('another tool', () => {
  it('that takes the same arguments stands in the place of one, turn by turn, and no call is made again', () => {
    expect(told([says('order', { id: '7' }), shows('ok'), says('refund', { id: '7' }), says('done', {})])).toEqual([
      ['order → refund', 0, 'refund 7'],
      ['order → replace', 0, 'replace 7'],
      ['order → rate', 0, 'rate 7'],
      ['refund → replace', 1, 'replace 7'],
      ['refund → rate', 1, 'rate 7'],
    ])
    expect(told([says('replace', { id: '7', note: 'x' })])).toEqual([])
  })

  it('stands in the place of one call of several', () => {
    const toolCalls = ['1', '2'].map((id) => ({ name: 'order', arguments: { id } }))
    expect(told([{ role: 'assistant', content: '', toolCalls }], tools.slice(0, 2))).toEqual([
      ['order → refund', 0, 'refund 1', 'order 2'],
      ['order → refund', 0, 'order 1', 'refund 2'],
    ])
  })
})

describe('another value', () => {
  it('is one that the schema lists', () => {
    const given = { id: '7', stars: 2, anonymous: true }
    expect(told([says('rate', given)])).toEqual([
      ['rate.stars', 0, 'rate 7, 1, true'],
      ['rate.stars', 0, 'rate 7, 3, true'],
      ['rate.anonymous', 0, 'rate 7, 2, false'],
    ])
    const many = tool('pick', { value: { enum: Array.from({ length: 17 }, (_, i) => i) } })
    expect(told([says('pick', { value: 3 })], [many])).toEqual([])
  })

  const one = [tool('order', { id: text }), tool('move', { words: text })]
  it.each<[string, string, string, readonly string[]]>([
    ['what stands at the same place of another line', 'red 7 a\nblue 9 b', '7', ['9']],
    ['the rest of the line, where it was one', 'red two words\nblue one\nbare', 'two words', ['one']],
    ['of the first line that shows it', 'a 7\nb 7\nc 9', '7', ['9']],
    ['nothing where no line shows it', 'a 1\nb 2', '7', []],
    ['nothing of one line', 'a 7', '7', []],
    ['nothing where there are many lines', Array.from({ length: 17 }, (_, i) => `x ${i}`).join('\n'), '7', []],
  ])('is %s', (_, shown, id, others) => {
    const acts = told([says('order', { id: 'x' }), shows(shown), says('order', { id })], one)
    expect(acts).toEqual(others.map((other) => ['order.id', 1, `order ${other}`]))
  })

  it('is none that the schema does not take, wherever it stands', () => {
    const colour = [tool('order', { id: text }), tool('paint', { colour: { enum: ['red', 'blue', 'green'] } })]
    const acts = told(
      [says('order', { id: 'x' }), shows('a red\nb blue\nc 907'), says('paint', { colour: 'red' })],
      colour,
    )
    expect(acts).toEqual([
      ['paint.colour', 1, 'paint blue'],
      ['paint.colour', 1, 'paint green'],
    ])
  })

  it('changes one word where the results show one word of it', () => {
    expect(
      told([says('order', { id: 'x' }), shows('red home\nblue work'), says('move', { words: 'note home' })], one),
    ).toEqual([['move.words', 1, 'move note work']])
  })

  it('is looked for in the last results alone, and not in what users say', () => {
    const before = [says('order', { id: 'x' }), shows('a 7\nb 9'), says('done', {}), shows('closed')]
    expect(told([...before, says('order', { id: '7' })], one)).toEqual([])
    const user: Message = { role: 'user', content: 'a 7\nb 9' }
    expect(told([says('done', {}), user, says('order', { id: '7' })], one)).toEqual([])
  })
})

describe('where a tool refused a call', () => {
  const one = [tool('list', {}), tool('read', { id: text }), tool('show', { id: text })]
  const refuses = (content: string): Message => ({ role: 'tool', name: 'read', content, isError: true })
  const began = [says('list', {}), shows('a 7\nb 8\nc 9'), says('read', { id: '7' }), shows('seven')]

  it('its value may come from any earlier result; no call is made again, and no later act is another', () => {
    const acts = told([...began, says('read', { id: '8' }), refuses('no 8'), says('read', { id: '9' })], one)
    expect(acts.filter(([, turn]) => turn === 2)).toEqual([
      ['refused read → show', 2, 'show 8'],
      ['refused read.id', 2, 'read 9'],
    ])
    expect(acts.filter(([, turn]) => Number(turn) > 2)).toEqual([])
  })

  it('of several calls the refused one is another, and no other', () => {
    const both: Message = {
      role: 'assistant',
      content: '',
      toolCalls: ['7', '8'].map((id) => ({ name: 'read', arguments: { id } })),
    }
    const turn = (...answers: readonly Message[]) =>
      told([says('list', {}), shows('a 7\nb 8\nc 9'), both, ...answers], one)
    const changed = (acts: ReturnType<typeof told>) => acts.map((act) => act.slice(2))
    expect(changed(turn(shows('seven'), refuses('no 8')))).toEqual([
      ['read 7', 'show 8'],
      ['read 7', 'read 7'],
      ['read 7', 'read 9'],
    ])
    // Which answer is whose nobody knows.
    expect(changed(turn(refuses('no')))).toHaveLength(6)
  })

  it('a value that no result shows stands for the last one of its kind that one shows', () => {
    const acts = told([...began, says('read', { id: 'x' }), refuses('no x')], one)
    expect(acts.filter(([change]) => change === 'refused read.id')).toEqual([
      ['refused read.id', 2, 'read 8'],
      ['refused read.id', 2, 'read 9'],
    ])
    expect(told([says('read', { id: 'x' }), refuses('no x')], one)).toEqual([['refused read → show', 0, 'show x']])
  })
})

it('leaves turns alone that say something, or that cannot be read', () => {
  const broken: Message = {
    role: 'assistant',
    content: '',
    malformedCalls: [{ text: 'order?', problem: 'unreadable' }],
  }
  expect(told([says('order', { id: '7' }, 'I look it up.'), broken, { role: 'assistant', content: 'Bye.' }])).toEqual(
    [],
  )
})

it('takes what an opening quotes of an assistant for no turn', () => {
  const quoted = { id: NodeId.parse('n0'), parent: null, message: says('order', { id: '1' }), spans: [] }
  const said = { ...quoted, id: NodeId.parse('n1'), message: says('order', { id: '7' }), spans: [sampledSpan([1])] }
  expect(otherActs({ nodes: [quoted, said] }, tools.slice(0, 2))).toMatchObject([
    { turn: 0, message: { toolCalls: [{ name: 'refund', arguments: { id: '7' } }] } },
  ])
})

it.each<[string, Json]>([
  ['no properties', {}],
  ['properties that are none', { properties: 'id', required: 'id' }],
  ['a list of properties', { properties: ['id'] }],
  ['names that every object has', { properties: { toString: text } }],
  ['a property without a schema', { properties: { id: null } }],
])('reads tools with %s', (_, parameters) => {
  const odd: ToolDefinition = { name: 'odd', description: '', parameters: parameters as ToolDefinition['parameters'] }
  expect(told([says('order', { constructor: 'x' })], [odd])).toEqual([])
  expect(() => told([says('odd', { id: '7' })], [odd, ...tools])).not.toThrow()
})

it('changes one call of any attempt, and never throws', () => {
  const word = fc.constantFrom('7', '9', 'a 7', 'red', '', ' ', '__proto__')
  const call = fc.record({
    name: fc.constantFrom(...tools.map(({ name }) => name), 'unknown'),
    arguments: fc.dictionary(fc.constantFrom('id', 'note', 'words', 'stars', '__proto__'), word, { maxKeys: 3 }),
  })
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.record({
      role: fc.constant('tool' as const),
      name: word,
      content: fc.constantFrom('a 7\nb 9', '', 'red\nblue\n7'),
    }),
    fc.array(call, { maxLength: 3 }).map((toolCalls): Message => ({ role: 'assistant', content: '', toolCalls })),
  )
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
      const turns = messages.filter(({ role }) => role === 'assistant')
      for (const { turn, message: other } of actsOf(messages)) {
        const [before, after] = [callsOf(turns[turn]), callsOf(other)]
        expect(after).toHaveLength(before.length)
        expect(after.filter((one, i) => JSON.stringify(one) !== JSON.stringify(before[i]))).toHaveLength(1)
      }
    }),
  )
})

const callsOf = (message: Message | undefined) => (message?.role === 'assistant' ? (message.toolCalls ?? []) : [])
