import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Action, Message, Task } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { DeskEnvironment } from './desk-environment.ts'
import type { DeskEpisode } from './desk-episode.ts'
import { MalformedDeskTaskError } from './malformed-desk-task-error.ts'
import { DeskFinalState } from './task-data.ts'
import { deskTools } from './tools.ts'
import { deskVerify } from './verify.ts'

const order = {
  customer: 'Ann Hill',
  item: 'tin lamp',
  status: 'sent',
  colour: 'red',
  packed: 'blue',
  cover: 'yes',
  refunds: 0,
  replacements: 0,
  returns: 0,
  escalations: 0,
}
const data = {
  books: {
    orders: {
      417: order,
      230: { ...order, item: 'oak desk', status: 'new', packed: null },
      888: { ...order, customer: 'Tom Lee' },
    },
    items: { 'tin lamp': { value: 'low', stock: 0 }, 'oak desk': { value: 'high', stock: 2 } },
  },
  right: { act: 'refund', order: '417' },
  request: { kind: 'broken', names: { order: '417' } },
  rule: 'out-of-stock',
}
const task = Task.parse({ id: 't', instruction: 'Order 417 arrived broken.', data, split: 'train' })
const environment = new DeskEnvironment()

const act = (name: string, args: unknown): Action => ({ kind: 'calls', calls: [{ name, arguments: args }] }) as Action
const say = (episode: DeskEpisode, name: string, argument?: string) => {
  const parameter = name === 'customer' || name === 'item' ? 'name' : 'id'
  return sayRaw(episode, name, argument === undefined ? {} : { [parameter]: argument })
}
const sayRaw = (episode: DeskEpisode, name: string, args: unknown) =>
  episode.step(act(name, args)).messages.at(0) as Extract<Message, { role: 'tool' }>

/** The verdict after these calls, each written as `tool argument`. */
function verdict(...lines: readonly string[]): 0 | 1 {
  const episode = environment.open(task, 0)
  for (const line of lines) {
    const [name = '', ...rest] = line.split(' ')
    say(episode, name, rest.length === 0 ? undefined : rest.join(' '))
  }
  return deskVerify(episode.close())
}

describe('an episode', () => {
  it('shows one fact a line, key before value', () => {
    const episode = environment.open(task, 0)
    expect(episode.opening).toEqual([{ role: 'user', content: task.instruction }])
    expect(say(episode, 'customer', 'Ann Hill').content).toBe('oak desk 230\ntin lamp 417')
    expect(say(episode, 'order', '417').content).toBe('item tin lamp\nstatus sent\ncolour red\npacked blue\ncover yes')
    expect(say(episode, 'order', '230').content).toBe('item oak desk\nstatus new\ncolour red\ncover yes')
    expect(say(episode, 'item', 'tin lamp').content).toBe('value low\nstock none')
    expect(say(episode, 'item', 'oak desk').content).toBe('value high\nstock 2')
  })

  it('shows what acts have changed, and never whether they were right', () => {
    const episode = environment.open(task, 0)
    say(episode, 'order', '230')
    for (const name of ['refund', 'replace', 'return', 'escalate', 'cancel'])
      expect(say(episode, name, '230')).toMatchObject({ content: 'ok' })
    expect(say(episode, 'order', '230').content).toContain('status cancelled')
    expect(say(episode, 'item', 'oak desk').content).toContain('stock 2')
    say(episode, 'replace', '230')
    expect(say(episode, 'item', 'oak desk').content).toContain('stock 1')
  })

  it('succeeds by the right act on the right order, done once, and an end', () => {
    expect(verdict('order 417', 'refund 417', 'done')).toBe(1)
    expect(verdict('order 417', 'refund 417')).toBe(0)
    expect(verdict('done')).toBe(0)
    expect(verdict()).toBe(0)
    expect(verdict('order 417', 'refund 417', 'refund 417', 'done')).toBe(0)
    expect(verdict('order 417', 'order 888', 'refund 417', 'refund 888', 'done')).toBe(0)
    expect(verdict('order 888', 'refund 888', 'done')).toBe(0)
    for (const wrong of ['cancel', 'replace', 'return', 'escalate']) {
      expect(verdict('order 417', `${wrong} 417`, 'done')).toBe(0)
      expect(verdict('order 417', `${wrong} 417`, 'refund 417', 'done')).toBe(0)
    }
  })

  it('is not spoilt by looks, nor by calls that it refused', () => {
    expect(
      verdict('refund 417', 'item 417', 'order 1', 'order 417', 'order 888', 'refund 417', 'done', 'refund 417'),
    ).toBe(1)
  })

  it('takes names in any case and spacing', () => {
    const episode = environment.open(task, 0)
    expect(say(episode, 'customer', ' ann  hill ').isError).toBeUndefined()
    expect(say(episode, 'item', 'Tin Lamp').content).toContain('value low')
  })

  it.each([
    ['an unknown tool', 'pay', { id: '417' }, 'no tool "pay": use one of customer, order, item', 'unknownTool'],
    ['a tool of every object', 'toString', {}, 'no tool "toString"', 'unknownTool'],
    ['a missing argument', 'order', {}, 'order takes one string: {"id": "…"}', 'badArguments'],
    ['a misnamed argument', 'item', { id: '417' }, 'item takes one string: {"name": "…"}', 'badArguments'],
    ['a surplus argument', 'refund', { id: '417', why: 'broken' }, 'refund takes one string', 'badArguments'],
    ['a number', 'order', { id: 417 }, 'order takes one string', 'badArguments'],
    ['an empty name', 'customer', { name: ' ' }, 'name is empty', 'badArguments'],
    [
      'a name of 1 MB',
      'item',
      { name: 'x'.repeat(1_000_000) },
      'name has 1000000 characters: at most 64',
      'badArguments',
    ],
    ['an argument of done', 'done', { text: 'bye' }, 'done takes no argument', 'badArguments'],
    ['an unknown order', 'order', { id: '999' }, 'no order "999": take the id from the message or', 'notFound'],
    ['an order of every object', 'order', { id: '__proto__' }, 'no order "__proto__"', 'notFound'],
    ['an unknown item', 'item', { name: 'oak' }, 'no item "oak": take the name from order', 'notFound'],
    ['an unknown customer', 'customer', { name: 'Ann' }, 'no customer "Ann": take the name from', 'notFound'],
    ['an act without a look', 'refund', { id: '417' }, 'order "417" not read: call order first', 'notRead'],
    ['an act on no order', 'refund', { id: '999' }, 'order "999" not read: call order first', 'notRead'],
  ])('teaches after %s', (_what, name, args, words, counted) => {
    const episode = environment.open(task, 0)
    const reply = sayRaw(episode, name, args)
    expect(reply.content).toContain(words)
    expect(reply.isError).toBe(true)
    const { state, counts } = episode.close()
    expect(counts).toMatchObject({ [counted]: 1, errors: 1, looks: 0, acts: 0 })
    expect(DeskFinalState.parse(state).books).toEqual(data.books)
  })

  it('never echoes control characters, nor more than a few words', () => {
    const { content } = say(environment.open(task, 0), 'order', `a\u0000\u001b[2J\u202e${'b'.repeat(50)}`)
    expect(content).toMatch(/^no order "[\x20-\x7e…]{1,61}": /)
  })

  it('answers plain talk with what to do, and calls after the end with an error', () => {
    const episode = environment.open(task, 0)
    const talk = episode.step({ kind: 'message', content: 'I am sorry.' })
    expect(talk).toEqual({ messages: [{ role: 'user', content: 'Call a tool, or done.' }], done: false })
    expect(episode.step(act('done', {})).done).toBe(true)
    expect(episode.step(act('order', { id: '417' }))).toMatchObject({
      messages: [{ content: 'the episode is over', isError: true }],
      done: true,
    })
  })

  it('answers every call of a turn, by its id', () => {
    const calls = [
      { id: 'a', name: 'order', arguments: { id: '417' } },
      { id: 'b', name: 'refund', arguments: { id: '417' } },
    ]
    const { messages } = environment.open(task, 0).step({ kind: 'calls', calls })
    expect(messages).toMatchObject([{ toolCallId: 'a' }, { toolCallId: 'b', content: 'ok' }])
  })

  it('forks into independent copies', () => {
    const episode = environment.open(task, 0)
    say(episode, 'order', '417')
    const copy = episode.fork()
    expect(say(copy, 'refund', '417').isError).toBeUndefined()
    say(copy, 'order', '888')
    say(copy, 'done')
    expect(say(episode, 'escalate', '888').isError).toBe(true)
    say(episode, 'replace', '417')
    say(episode, 'done')
    expect(deskVerify(copy.close())).toBe(1)
    expect(deskVerify(episode.close())).toBe(0)
    expect(copy.close().counts).toMatchObject({ looks: 2, acts: 1, errors: 0 })
    expect(episode.close().counts).toMatchObject({ looks: 1, acts: 1, errors: 1 })
  })
})

const argument = fc.oneof(
  fc.constantFrom('417', '230', '888', 'tin lamp', 'Ann Hill', '__proto__'),
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 60, maxLength: 80 }),
)
const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...deskTools.map((tool) => tool.name)) },
  fc.string({ minLength: 1 }),
)
const args = fc.oneof(
  { weight: 5, arbitrary: argument.chain((text) => fc.constantFrom<object>({ id: text }, { name: text }, {})) },
  fc.dictionary(fc.string(), fc.jsonValue()),
  fc.constantFrom(null, undefined, 7, 'text', []),
)
const action = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(name, args).map(([tool, given]) => act(tool, given)) },
  fc.string().map((content): Action => ({ kind: 'message', content })),
  fc.constant<Action>({ kind: 'calls', calls: [] }),
)

it('survives whatever is done, and closes with a state that can be judged', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 12 }), (actions) => {
      const episode = environment.open(task, 0)
      let done = false
      for (const each of actions) {
        const outcome = episode.step(each)
        expect(outcome.messages.length).toBeGreaterThan(0)
        for (const message of outcome.messages) {
          expect(Message.safeParse(message).success).toBe(true)
          expect(message.content.length).toBeLessThan(200)
        }
        expect(outcome.done || !done).toBe(true)
        done = outcome.done
      }
      const final = episode.close()
      expect(DeskFinalState.parse(final.state).ended).toBe(done)
      expect([0, 1]).toContain(deskVerify(final))
    }),
    { numRuns: 300 },
  )
})

it.each([
  ['nothing', null, 'data: '],
  ['an order that is not there', { ...data, right: { act: 'refund', order: '999' } }, 'right.order'],
  ['an item that is not there', { ...data, books: { ...data.books, items: {} } }, 'every ordered item'],
  ['an act that nobody can do', { ...data, right: { act: 'pay', order: '417' } }, 'data.right.act'],
])('refuses a task whose data hold %s', (_what, wrong, words) => {
  const open = () => environment.open({ ...task, data: wrong }, 0)
  expect(open).toThrow(MalformedDeskTaskError)
  expect(open).toThrow(words)
})

it('refuses the final state of another environment', () => {
  expect(() => deskVerify({ state: { answer: 'x' }, counts: {} })).toThrow(InvariantError)
})
