import { describe, expect, it } from 'vitest'
import { type Action, type Message, Task } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { HouseEnvironment } from './house-environment.ts'
import type { HouseEpisode } from './house-episode.ts'
import { MalformedHouseTaskError } from './malformed-house-task-error.ts'
import { HouseFinalState } from './task-data.ts'
import { houseCalls, type HouseTool } from './tools.ts'
import { houseProgress, houseVerify } from './verify.ts'

const house = {
  at: 'hall',
  rooms: {
    hall: { behind: null, locked: null },
    kitchen: { behind: 'hall', locked: null },
    cellar: { behind: 'kitchen', locked: null },
    attic: { behind: 'hall', locked: 'red' },
  },
  containers: {
    'kitchen/box': { open: false, locked: null },
    'kitchen/chest': { open: true, locked: null },
    'attic/chest': { open: false, locked: 'blue' },
  },
  items: {
    'brass lamp': 'kitchen/box',
    'tin lamp': 'kitchen',
    'red key': 'hall',
    'blue key': 'cellar',
  },
}
const data = {
  house,
  goals: { 'brass lamp': 'attic/chest' },
  opens: ['kitchen/box', 'attic', 'attic/chest'],
  request: { kind: 'unpack', item: 'brass lamp', from: 'kitchen/box', to: 'attic/chest' },
}
const task = Task.parse({ id: 't', instruction: 'Put the brass lamp into the attic chest.', data, split: 'train' })
const environment = new HouseEnvironment()

const act = (name: string, args: unknown): Action => ({ kind: 'calls', calls: [{ name, arguments: args }] }) as Action
const say = (episode: HouseEpisode, name: string, args: unknown) =>
  episode.step(act(name, args)).messages.at(0) as Extract<Message, { role: 'tool' }>
/** Makes calls, each written as `tool argument`, and returns what the last one showed. */
function use(episode: HouseEpisode, ...lines: readonly string[]) {
  const replies = lines.map((line) => {
    const [name = '', ...rest] = line.split(' ')
    return say(episode, name, houseCalls.argumentsOf(name as HouseTool, rest.join(' ')))
  })
  return replies.at(-1)!
}
const stateOf = (episode: HouseEpisode) => HouseFinalState.parse(episode.close().state).after

const whole = [
  'look',
  'take red key',
  'go kitchen',
  'open box',
  'take brass lamp',
  'go cellar',
  'take blue key',
  'go kitchen',
  'go hall',
  'unlock attic',
  'go attic',
  'unlock chest',
  'open chest',
  'put brass lamp in chest',
]

describe('an episode', () => {
  it('shows a fact a line, what it is before its name', () => {
    const episode = environment.open(task, 0)
    expect(use(episode, 'look').content).toBe('room hall\nexit kitchen to cellar\nexit attic locked red\nitem red key')
    expect(use(episode, 'go kitchen').content).toBe(
      'room kitchen\nexit hall\nexit cellar\nbox closed\nchest empty\nitem tin lamp',
    )
    expect(use(episode, 'open box').content).toBe('box holds brass lamp')
    expect(use(episode, 'take brass lamp').content).toBe('taken')
    expect(use(episode, 'put brass lamp in chest').content).toBe('put')
    expect(use(episode, 'look').content).toBe(
      'room kitchen\nexit hall\nexit cellar\nbox empty\nchest holds brass lamp\nitem tin lamp',
    )
  })

  it('is done by fetching keys, unlocking, opening and putting', () => {
    const episode = environment.open(task, 0)
    for (const line of whole) expect(use(episode, line).isError).toBeUndefined()
    expect(houseVerify(episode.close())).toBe(0)
    expect(houseProgress(episode.close())).toBe(5 / 6)
    expect(episode.step(act('done', {})).done).toBe(true)
    expect(houseVerify(episode.close())).toBe(1)
    expect(houseProgress(episode.close())).toBe(1)
    expect(use(episode, 'look')).toMatchObject({ content: 'the episode is over', isError: true })
  })

  it.each<[string, readonly string[]]>([
    ['another thing lies elsewhere', ['go hall', 'go kitchen', 'take tin lamp', 'put tin lamp in chest']],
    ['another thing is carried', ['go hall', 'go kitchen', 'take tin lamp']],
    ['the thing was taken away again', ['take brass lamp']],
    ['the thing lies on the floor', ['take brass lamp', 'put brass lamp in attic']],
  ])('fails when %s', (_what, further) => {
    const episode = environment.open(task, 0)
    expect(use(episode, ...whole, ...further).isError).toBeUndefined()
    use(episode, 'done')
    expect(houseVerify(episode.close())).toBe(0)
    expect(houseProgress(episode.close())).toBeLessThan(1)
  })

  it('lets a mistake be undone, and keys lie anywhere', () => {
    const episode = environment.open(task, 0)
    use(episode, ...whole, 'put red key in chest', 'go hall', 'go kitchen', 'take tin lamp', 'put tin lamp in kitchen')
    use(episode, 'done')
    expect(houseVerify(episode.close())).toBe(1)
  })

  it('reads names in any case and spacing', () => {
    const episode = environment.open(task, 0)
    expect(use(episode, 'take  Red   KEY ').content).toBe('taken')
  })

  it.each<[string, string, unknown, string]>([
    ['an unknown tool', 'jump', {}, 'no tool "jump": use look, go'],
    ['a tool of every object', 'toString', {}, 'no tool "toString"'],
    ['no arguments', 'go', null, 'go takes one string: {"room": "…"}'],
    ['a surplus argument', 'look', { room: 'hall' }, 'look takes no argument'],
    ['an empty name', 'take', { item: ' ' }, 'item is empty'],
    ['a megabyte', 'take', { item: 'x'.repeat(1_000_000) }, 'item has 1000000 characters: at most 80'],
    ['a room that is not next', 'go', { room: 'cellar' }, 'no exit "cellar" here: look'],
    ['a room that is not there', 'go', { room: '__proto__' }, 'no exit "__proto__" here: look'],
    ['a locked door', 'go', { room: 'attic' }, 'attic is locked: unlock attic'],
    ['a lock without its key', 'unlock', { lock: 'attic' }, 'attic needs the red key'],
    ['what is not locked', 'unlock', { lock: 'kitchen' }, 'kitchen is not locked'],
    ['what is not to be seen', 'take', { item: 'brass lamp' }, 'no "brass lamp" in sight: open or go on'],
    ['what there is not', 'take', { item: 'gold lamp' }, 'no "gold lamp" in sight: open or go on'],
    ['a container elsewhere', 'open', { container: 'chest' }, 'no "chest" to open here: look'],
    ['what is not carried', 'put', { words: 'red key in hall' }, 'you have no "red key": take it'],
    ['half a put', 'put', { words: 'red key' }, 'put takes ITEM in PLACE'],
  ])('teaches after %s, and changes nothing', (_what, name, args, words) => {
    const episode = environment.open(task, 0)
    const reply = say(episode, name, args)
    expect(reply.content).toContain(words)
    expect(reply.content.length).toBeLessThan(100)
    expect(reply.isError).toBe(true)
    expect(stateOf(episode)).toEqual(house)
    expect(episode.close().counts.errors).toBe(1)
  })

  it('does not give away what a closed container holds, nor let anything into it', () => {
    const episode = environment.open(task, 0)
    expect(use(episode, 'go kitchen', 'take brass lamp').isError).toBe(true)
    expect(use(episode, 'take tin lamp', 'put tin lamp in box').content).toBe('box is closed: open box')
  })

  it('answers talk with what to do, and forks into independent copies', () => {
    const episode = environment.open(task, 0)
    expect(episode.step({ kind: 'message', content: 'Done.' })).toMatchObject({
      messages: [{ role: 'user' }],
      done: false,
    })
    const copy = episode.fork()
    use(copy, ...whole, 'done')
    expect(houseVerify(copy.close())).toBe(1)
    expect(stateOf(episode)).toEqual(house)
    expect(episode.close().counts).toMatchObject({ talk: 1, done: 0 })
  })
})

it.each<[string, unknown, string]>([
  ['nothing', null, 'data: '],
  ['a thing that is nowhere', { ...data, house: { ...house, items: { 'brass lamp': 'well' } } }, 'must be somewhere'],
  ['a goal that is no place', { ...data, goals: { 'brass lamp': 'attic/box' } }, 'a place of the house'],
  ['a goal of no thing', { ...data, goals: { 'tin cup': 'attic' } }, 'a thing of the house'],
  ['goals that are reached', { ...data, goals: { 'tin lamp': 'kitchen' } }, 'not be reached yet'],
  ['an agent who is nowhere', { ...data, house: { ...house, at: 'well' } }, 'at must be among the rooms'],
])('refuses a task whose data hold %s', (_what, wrong, words) => {
  const open = () => environment.open({ ...task, data: wrong as Task['data'] }, 0)
  expect(open).toThrow(MalformedHouseTaskError)
  expect(open).toThrow(words)
})

it('refuses the final state of another environment', () => {
  expect(() => houseVerify({ state: { answer: 'x' }, counts: {} })).toThrow(InvariantError)
})
