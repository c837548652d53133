import { describe, expect, it } from 'vitest'
import { type Action, type Message, Task } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { FormsEnvironment } from './forms-environment.ts'
import type { FormsEpisode } from './forms-episode.ts'
import { MalformedFormsTaskError } from './malformed-forms-task-error.ts'
import { hourFor, payFor, postFor } from './rules.ts'
import { FormsFinalState } from './task-data.ts'
import { formsCalls, type FormsTool } from './tools.ts'
import { formsVerify } from './verify.ts'

const expected = { account: '417', item: '230', count: '12', day: 'fri', post: 'truck' }
const data = {
  fields: ['account', 'item', 'count', 'day', 'post'],
  table: {
    customers: { 'Ann Hill': { account: '417' }, 'Ann Lee': { account: '888' } },
    items: {
      'oak desk': { item: '230', size: 'large', cover: 'no' },
      'tin desk': { item: '555', size: 'small', cover: 'yes' },
    },
  },
  expected,
  request: { kind: 'order', customer: 'Ann Hill', item: 'oak desk', day: 'Friday', count: 12 },
}
const task = Task.parse({ id: 't', instruction: 'Order from Ann Hill: 12 oak desks.', data, split: 'train' })
const environment = new FormsEnvironment()

const act = (name: string, args: unknown): Action => ({ kind: 'calls', calls: [{ name, arguments: args }] }) as Action
const say = (episode: FormsEpisode, name: string, args: unknown) =>
  episode.step(act(name, args)).messages.at(0) as Extract<Message, { role: 'tool' }>
/** Makes calls, each written as `tool argument`, and returns what the last one showed. */
function use(episode: FormsEpisode, ...lines: readonly string[]) {
  const replies = lines.map((line) => {
    const [name = '', ...rest] = line.split(' ')
    return say(episode, name, formsCalls.argumentsOf(name as FormsTool, rest.join(' ')))
  })
  return replies.at(-1)!
}
const right = Object.entries(expected).map(([field, value]) => `set ${field} ${value}`)

function verdict(...lines: readonly string[]): 0 | 1 {
  const episode = environment.open(task, 0)
  use(episode, ...lines)
  return formsVerify(episode.close())
}

describe('an episode', () => {
  it('shows the form and the table a fact a line, key before value', () => {
    const episode = environment.open(task, 0)
    expect(use(episode, 'form').content).toBe('account empty\nitem empty\ncount empty\nday empty\npost empty')
    expect(use(episode, 'lookup Ann Hill').content).toBe('account 417')
    expect(use(episode, 'lookup OAK  desk').content).toBe('item 230\nsize large\ncover no')
    expect(use(episode, 'set account 417', 'form').content).toContain('account 417\nitem empty')
  })

  it('succeeds by every field as it should be, in any order, and by sending it', () => {
    expect(verdict(...right, 'submit')).toBe(1)
    expect(verdict(...right.toReversed(), 'submit')).toBe(1)
    expect(verdict(...right)).toBe(0)
    expect(verdict('submit')).toBe(0)
    expect(verdict()).toBe(0)
  })

  it.each(['account 888', 'item 555', 'count 13', 'day thu', 'post van'])('fails with %s', (wrong) => {
    expect(verdict(...right, `set ${wrong}`, 'submit')).toBe(0)
    expect(verdict(`set ${wrong}`, ...right, 'submit')).toBe(1)
  })

  it('never says whether what it takes is right', () => {
    const episode = environment.open(task, 0)
    expect(use(episode, 'set post letter')).toMatchObject({ content: 'ok' })
    expect(use(episode, ...right, 'set post parcel', 'submit').content).toBe('sent')
    expect(use(episode, 'set post truck')).toMatchObject({ content: 'the episode is over', isError: true })
    expect(formsVerify(episode.close())).toBe(0)
  })

  it.each<[string, string, unknown, string]>([
    ['an unknown tool', 'send', {}, 'no tool "send": use form, lookup'],
    ['a tool of every object', 'toString', {}, 'no tool "toString"'],
    ['no arguments', 'lookup', null, 'lookup takes one string: {"name": "…"}'],
    ['a surplus argument', 'submit', { words: 'x' }, 'submit takes no argument'],
    ['a megabyte', 'set', { words: 'x'.repeat(1_000_000) }, 'words has 1000000 characters: at most 64'],
    ['half a name', 'lookup', { name: 'desk' }, 'no "desk" in the table: give a whole name'],
    ['a name of every object', 'lookup', { name: '__proto__' }, 'no "__proto__" in the table'],
    ['a field that is not there', 'set', { words: 'pay free' }, 'no field "pay": see form'],
    ['a field of every object', 'set', { words: 'constructor x' }, 'no field "constructor": see form'],
    ['a name for a code', 'set', { words: 'account Ann Hill' }, 'account takes three digits: look the customer up'],
    ['an item for a code', 'set', { words: 'item oak desk' }, 'item takes three digits: look the item up'],
    ['a number in words', 'set', { words: 'count twelve' }, 'count takes one or two digits'],
    ['a whole day', 'set', { words: 'day Friday' }, 'day takes three letters, as mon'],
    ['a way that there is not', 'set', { words: 'post plane' }, 'post takes letter, parcel, van or truck'],
    ['no value', 'set', { words: 'post' }, 'post takes letter'],
    ['an empty field', 'submit', {}, 'account is empty'],
  ])('teaches after %s, and changes nothing', (_what, name, args, words) => {
    const episode = environment.open(task, 0)
    const reply = say(episode, name, args)
    expect(reply.content).toContain(words)
    expect(reply.content.length).toBeLessThan(100)
    expect(reply.isError).toBe(true)
    expect(FormsFinalState.parse(episode.close().state)).toMatchObject({ filled: {}, sent: false })
    expect(episode.close().counts.errors).toBe(1)
  })

  it('answers talk with what to do, and forks into independent copies', () => {
    const episode = environment.open(task, 0)
    expect(episode.step({ kind: 'message', content: 'Sent.' })).toMatchObject({
      messages: [{ role: 'user' }],
      done: false,
    })
    use(episode, ...right.slice(1))
    const copy = episode.fork()
    use(copy, 'set account 417', 'submit')
    expect(formsVerify(copy.close())).toBe(1)
    expect(use(episode, 'submit').content).toBe('account is empty')
  })
})

it.each<[string, unknown, string]>([
  ['nothing', null, 'data: '],
  ['a field twice', { ...data, fields: [...data.fields, 'post'] }, 'each field once'],
  ['a field without a value', { ...data, fields: [...data.fields, 'hour'] }, 'exactly the fields'],
  ['a value that no form takes', { ...data, expected: { ...expected, day: 'Friday' } }, 'what it takes'],
  ['an item that is not in the table', { ...data, request: { ...data.request, item: 'elm desk' } }, 'the table must'],
])('refuses a task whose data hold %s', (_what, wrong, words) => {
  const open = () => environment.open({ ...task, data: wrong as Task['data'] }, 0)
  expect(open).toThrow(MalformedFormsTaskError)
  expect(open).toThrow(words)
})

it('refuses the final state of another environment', () => {
  expect(() => formsVerify({ state: { answer: 'x' }, counts: {} })).toThrow(InvariantError)
})

describe('the rules', () => {
  it('give each of their values for one pair of facts', () => {
    const facts = (size: 'small' | 'large', cover: 'yes' | 'no') => ({ size, cover })
    expect(
      [9, 10].flatMap((count) => [postFor(facts('small', 'no'), count), postFor(facts('large', 'yes'), count)]),
    ).toEqual(['letter', 'van', 'parcel', 'truck'])
    expect((['noise', 'smoke', 'crack', 'leak'] as const).map((fault) => payFor(facts('small', 'yes'), fault))).toEqual(
      ['free', 'free', 'half', 'half'],
    )
    expect((['noise', 'crack'] as const).map((fault) => payFor(facts('large', 'no'), fault))).toEqual(['full', 'none'])
    expect(
      (['morning', 'afternoon'] as const).flatMap((part) => [
        hourFor(facts('small', 'no'), part),
        hourFor(facts('large', 'no'), part),
      ]),
    ).toEqual(['8', '10', '14', '16'])
  })
})
