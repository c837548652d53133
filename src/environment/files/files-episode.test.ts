import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Action, Message, Task } from '../../core/index.ts'
import { FilesEnvironment } from './files-environment.ts'
import type { FilesEpisode } from './files-episode.ts'
import { MalformedFilesTaskError } from './malformed-files-task-error.ts'
import { FilesFinalState } from './task-data.ts'
import { fileArguments, type FileTool } from './tools.ts'
import { filesProgress, filesVerify } from './verify.ts'

const environment = new FilesEnvironment()
const forest = 'red water\nkeep no'
const water = 'keep yes\nresult sun'
const data = {
  job: { kind: 'trail', key: 'red', start: 'forest' },
  files: { 'inbox/forest': forest, 'inbox/water': water },
  changes: { 'inbox/forest': null, 'archive/forest': forest, 'inbox/result': 'sun' },
}
const task = Task.parse({ id: 't', instruction: 'Follow red from forest.', data, split: 'train' })

const act = (name: string, args: Record<string, unknown> | null): Action =>
  ({ kind: 'calls', calls: [{ name, arguments: args }] }) as Action
const say = (episode: FilesEpisode, name: string, args: Record<string, unknown> | null) =>
  episode.step(act(name, args)).messages.at(0) as Extract<Message, { role: 'tool' }>
const use = (episode: FilesEpisode, name: FileTool, text?: string) => say(episode, name, fileArguments(name, text))
const filesOf = (episode: FilesEpisode) => FilesFinalState.parse(episode.close().state).files

describe('an episode', () => {
  it('is read, moved, written and done', () => {
    const episode = environment.open(task, 0)
    expect(episode.opening).toEqual([{ role: 'user', content: task.instruction }])
    expect(use(episode, 'list', 'inbox').content).toBe('forest\nwater')
    expect(use(episode, 'read', 'forest').content).toBe(forest)
    expect(use(episode, 'move', 'forest archive').content).toBe('moved')
    expect(use(episode, 'list', 'archive').content).toBe('forest')
    expect(use(episode, 'list', 'home').content).toBe('nothing')
    expect(use(episode, 'write', 'result sun').content).toBe('written')
    expect(filesVerify(episode.close())).toBe(0)
    expect(episode.step(act('done', {})).done).toBe(true)
    expect(filesVerify(episode.close())).toBe(1)
    expect(episode.close().counts).toMatchObject({ list: 3, read: 1, move: 1, write: 1, done: 1, errors: 0 })
  })

  it.each<[string, [FileTool, string][]]>([
    ['a file is missing', [['write', 'result sun']]],
    [
      'a file was left behind',
      [
        ['copy', 'forest archive'],
        ['write', 'result sun'],
      ],
    ],
    [
      'a kept file was moved, too',
      [
        ['move', 'forest archive'],
        ['move', 'water archive'],
        ['write', 'result sun'],
      ],
    ],
    [
      'another text was written',
      [
        ['move', 'forest archive'],
        ['write', 'result rain'],
      ],
    ],
    [
      'a file is there that nobody asked for',
      [
        ['move', 'forest archive'],
        ['write', 'result sun'],
        ['write', 'x y'],
      ],
    ],
    [
      'a file was deleted',
      [
        ['move', 'forest archive'],
        ['write', 'result sun'],
        ['delete', 'water'],
      ],
    ],
  ])('fails when %s', (_what, calls) => {
    const episode = environment.open(task, 0)
    for (const [name, text] of calls) expect(use(episode, name, text).isError).toBeUndefined()
    use(episode, 'done')
    expect(filesVerify(episode.close())).toBe(0)
    expect(filesProgress(episode.close())).toBeLessThan(1)
  })

  it('lets a mistake be undone', () => {
    const episode = environment.open(task, 0)
    use(episode, 'move', 'forest home')
    use(episode, 'move', 'home/forest archive/forest')
    use(episode, 'write', 'result rain')
    use(episode, 'write', 'result sun')
    use(episode, 'done')
    expect(filesVerify(episode.close())).toBe(1)
  })

  it.each<[string, string, Record<string, unknown> | null, string]>([
    ['no arguments at all', 'read', null, 'read takes one string: {"file": "…"}'],
    ['an unknown tool', 'browse', { url: 'x' }, 'no tool "browse": use list, read'],
    ['a tool of every object', 'toString', {}, 'no tool "toString"'],
    ['a missing argument', 'read', {}, 'read takes one string: {"file": "…"}'],
    ['a surplus argument', 'read', { file: 'forest', line: 1 }, 'read takes one string'],
    ['a number', 'list', { folder: 7 }, 'list takes one string'],
    ['an argument to done', 'done', { text: 'x' }, 'done takes no argument'],
    ['half a move', 'move', { words: 'forest' }, 'move takes FILE FOLDER'],
    ['half a line', 'write', { words: 'result' }, 'write takes FILE TEXT'],
    ['a path out of the folders', 'read', { file: '../../etc/passwd' }, 'no path "../../etc/passwd"'],
    ['a path to the parent', 'read', { file: '..' }, 'no path ".."'],
    ['a file that is not there', 'read', { file: 'rain' }, 'no file "rain": list inbox'],
    ['a folder that is not there', 'move', { words: 'forest attic' }, 'no folder "attic": use inbox or archive'],
    ['a place that is taken', 'move', { words: 'forest inbox/water' }, 'inbox/water is there already'],
    ['a megabyte', 'write', { words: `x ${'y'.repeat(1_000_000)}` }, 'words is longer than 256'],
  ])('teaches after %s, and changes nothing', (_what, name, args, words) => {
    const episode = environment.open(task, 0)
    const reply = say(episode, name, args)
    expect(reply.content).toContain(words)
    expect(reply.content.length).toBeLessThan(100)
    expect(reply.isError).toBe(true)
    expect(filesOf(episode)).toEqual(data.files)
    expect(episode.close().counts.errors).toBe(1)
  })

  it('has a full disk before its files grow without bound', () => {
    const episode = environment.open(task, 0)
    const replies = Array.from({ length: 100 }, (_, at) => use(episode, 'write', `n${at} x`))
    expect(replies.at(-1)).toMatchObject({ content: 'the disk is full: delete a file', isError: true })
    expect(use(episode, 'move', 'forest archive').content).toBe('moved')
    expect(Object.keys(filesOf(episode))).toHaveLength(64)
  })

  it('answers talk with what to do, and changes nothing after the end', () => {
    const episode = environment.open(task, 0)
    const talk = episode.step({ kind: 'message', content: 'I have archived it.' })
    expect(talk).toMatchObject({ messages: [{ role: 'user' }], done: false })
    use(episode, 'done')
    expect(use(episode, 'delete', 'forest')).toMatchObject({ content: 'the episode is over', isError: true })
    expect(filesOf(episode)).toEqual(data.files)
  })

  it('forks into independent copies', () => {
    const episode = environment.open(task, 0)
    use(episode, 'move', 'forest archive')
    const copy = episode.fork()
    use(copy, 'write', 'result sun')
    use(copy, 'done')
    expect(filesVerify(copy.close())).toBe(1)
    expect(filesOf(episode)).toEqual({ 'archive/forest': forest, 'inbox/water': water })
    expect(use(episode, 'write', 'result rain').isError).toBeUndefined()
    expect(filesOf(copy)['inbox/result']).toBe('sun')
    expect(episode.close().counts).toMatchObject({ move: 1, write: 1, done: 0 })
  })

  it.each([[null], [{}], [{ ...data, changes: {} }], [{ ...data, files: { '../x': 'y' } }]])(
    'is refused for a task with data %j',
    (malformed) => {
      expect(() => environment.open({ ...task, data: malformed as Task['data'] }, 0)).toThrow(MalformedFilesTaskError)
    },
  )
})

const word = fc.oneof(
  fc.constantFrom('forest', 'water', 'archive', 'inbox', 'inbox/water', 'archive/forest', '..', '/', 'result'),
  fc.constantFrom('constructor', '__proto__', 'inbox/constructor', 'inbox/__proto__'),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constant('é'.repeat(300)),
)
const anyCall = fc.record({
  name: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('list', 'read', 'move', 'copy', 'write', 'delete') },
    { weight: 1, arbitrary: fc.oneof(fc.constantFrom('done', '__proto__'), fc.string()) },
  ),
  arguments: fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom('folder', 'file', 'words'), fc.array(word, { maxLength: 3 }))
        .map(([key, words]) => ({ [key]: words.join(' ') })),
    },
    { weight: 1, arbitrary: fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<string>) },
  ),
})
const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('calls' as const), calls: fc.array(anyCall, { maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('message' as const), content: fc.string() }) },
)

it('never throws at any sequence of actions, and always closes with a state that can be checked', () => {
  fc.assert(
    fc.property(fc.array(anyAction, { maxLength: 12 }), (actions) => {
      const episode = environment.open(task, 0)
      for (const action of actions) {
        const before = filesOf(episode)
        const { messages } = episode.step(action)
        for (const message of messages) Message.parse(message)
        if (messages.every((message) => 'isError' in message)) expect(filesOf(episode)).toEqual(before)
      }
      const final = episode.close()
      FilesFinalState.parse(final.state)
      expect(JSON.parse(JSON.stringify(final))).toEqual(final)
      const progress = filesProgress(final)
      expect(progress).toBeGreaterThanOrEqual(0)
      expect(progress).toBeLessThanOrEqual(1)
      expect(progress === 1).toBe(filesVerify(final) === 1)
    }),
  )
})
