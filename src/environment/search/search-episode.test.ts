import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Action, Message, Task } from '../../core/index.ts'
import { Corpus } from './corpus.ts'
import { MalformedTaskError } from './malformed-task-error.ts'
import { SearchEnvironment } from './search-environment.ts'
import type { SearchEpisode } from './search-episode.ts'
import { verify } from './verify.ts'

const titles = ['Builder.elu', 'Builder.prelu', 'Builder.relu', 'aspect-ratio', 'width']
const corpus = new Corpus(
  titles.map((title, i) => ({ id: title, title, lines: [`chrome ${100 + i}`, 'edge never'] })),
  'title',
)
const environment = new SearchEnvironment(corpus)
const task = Task.parse({
  id: 't',
  instruction: 'Which version of chrome supports Builder.relu?',
  data: { accepted: ['chrome 102', '102'] },
  split: 'train',
})

const act = (name: string, args: Record<string, unknown>): Action =>
  ({ kind: 'calls', calls: [{ name, arguments: args }] }) as Action
const say = (episode: SearchEpisode, name: string, args: Record<string, unknown>) => {
  const [message] = episode.step(act(name, args)).messages
  return message as Extract<Message, { role: 'tool' }>
}

describe('an episode', () => {
  it('is asked in one line, searched, opened and answered', () => {
    const episode = environment.open(task, 0)
    expect(episode.opening).toEqual([{ role: 'user', content: task.instruction }])
    expect(say(episode, 'search', { query: 'Builder.relu' }).content).toBe('Builder.elu\nBuilder.prelu\nBuilder.relu')
    expect(say(episode, 'open', { title: 'Builder.relu' }).content).toBe('chrome 102\nedge never')
    const outcome = episode.step(act('answer', { text: ' Chrome  102 ' }))
    expect(outcome.done).toBe(true)
    const final = episode.close()
    expect(verify(final)).toBe(1)
    expect(final.counts).toMatchObject({ search: 1, open: 1, answer: 1, errors: 0 })
  })

  it('fails without an answer and with a wrong one', () => {
    const silent = environment.open(task, 0)
    expect(verify(silent.close())).toBe(0)
    const wrong = environment.open(task, 0)
    say(wrong, 'answer', { text: 'chrome 10' })
    expect(verify(wrong.close())).toBe(0)
  })

  it('opens only what a search of this episode listed, and says the same of what does not exist', () => {
    const episode = environment.open(task, 0)
    expect(say(episode, 'open', { title: 'width' })).toMatchObject({
      content: 'no document "width": search first',
      isError: true,
    })
    expect(say(episode, 'open', { title: 'depth' })).toMatchObject({
      content: 'no document "depth": search first',
      isError: true,
    })
    say(episode, 'search', { query: 'width' })
    expect(say(episode, 'open', { title: 'width' }).isError).toBeUndefined()
    expect(say(environment.open(task, 0), 'open', { title: 'width' }).isError).toBe(true)
  })

  it.each([
    ['an unknown tool', 'browse', { url: 'x' }, 'no tool "browse": use search, open or answer', 'unknownTool'],
    ['a tool of every object', 'toString', {}, 'no tool "toString"', 'unknownTool'],
    ['a missing argument', 'search', {}, 'search takes one string: {"query": "…"}', 'badArguments'],
    ['a misnamed argument', 'open', { name: 'width' }, 'open takes one string: {"title": "…"}', 'badArguments'],
    ['a surplus argument', 'search', { query: 'width', limit: 9 }, 'search takes one string', 'badArguments'],
    ['a number', 'answer', { text: 102 }, 'answer takes one string', 'badArguments'],
    ['an empty query', 'search', { query: ' ' }, 'query is empty', 'badArguments'],
    [
      'a query of 1 MB',
      'search',
      { query: 'x'.repeat(1_000_000) },
      'query has 1000000 characters: at most 256',
      'badArguments',
    ],
  ])('teaches after %s', (_what, name, args, words, counted) => {
    const episode = environment.open(task, 0)
    const reply = say(episode, name, args)
    expect(reply.content).toContain(words)
    expect(reply.isError).toBe(true)
    const { counts } = episode.close()
    expect(counts[counted]).toBe(1)
    expect(counts.errors).toBe(1)
  })

  it('says that nothing was found without calling it an error', () => {
    const episode = environment.open(task, 0)
    const reply = say(episode, 'search', { query: '漢字' })
    expect(reply).toMatchObject({ content: 'nothing found: try other words' })
    expect(reply.isError).toBeUndefined()
    expect(episode.close().counts).toMatchObject({ search: 1, emptySearch: 1, errors: 0 })
  })

  it('never echoes control characters, nor more than a few words', () => {
    const episode = environment.open(task, 0)
    const title = `a\u0000\u001b[2J\u2028\u202e${'b'.repeat(200)}`
    const { content } = say(episode, 'open', { title })
    expect(content).toMatch(/^no document "[\x20-\x7e…]{1,61}": search first$/)
  })

  it('answers plain talk with what to do, and calls after the end with an error', () => {
    const episode = environment.open(task, 0)
    const talk = episode.step({ kind: 'message', content: 'I think it is 102.' })
    expect(talk).toEqual({ messages: [{ role: 'user', content: 'Call search, open or answer.' }], done: false })
    say(episode, 'answer', { text: '102' })
    const late = episode.step(act('answer', { text: '103' }))
    expect(late).toMatchObject({ messages: [{ content: 'the episode is over', isError: true }], done: true })
    expect(episode.close().state).toMatchObject({ answer: '102' })
  })

  it('answers every call of a turn, by its id', () => {
    const calls = [
      { id: 'a', name: 'search', arguments: { query: 'width' } },
      { id: 'b', name: 'open', arguments: { title: 'width' } },
    ]
    const { messages } = environment.open(task, 0).step({ kind: 'calls', calls })
    expect(messages).toMatchObject([{ toolCallId: 'a' }, { toolCallId: 'b', content: 'chrome 104\nedge never' }])
  })

  it('forks into independent copies', () => {
    const episode = environment.open(task, 0)
    say(episode, 'search', { query: 'width' })
    const copy = episode.fork()
    expect(say(copy, 'open', { title: 'width' }).isError).toBeUndefined()
    say(copy, 'search', { query: 'aspect-ratio' })
    say(copy, 'answer', { text: '102' })
    expect(say(episode, 'open', { title: 'aspect-ratio' }).isError).toBe(true)
    expect(verify(episode.close())).toBe(0)
    expect(verify(copy.close())).toBe(1)
  })
})

const argument = fc.oneof(
  fc.constantFrom(...titles, 'chrome 102'),
  fc.string({ unit: 'binary' }),
  fc.constant('é'.repeat(300)),
)
const anyCall = fc.record({
  name: fc.oneof(fc.constantFrom('search', 'open', 'answer', '__proto__', 'constructor'), fc.string()),
  arguments: fc.oneof(
    fc.dictionary(fc.constantFrom('query', 'title', 'text', '__proto__'), argument, { maxKeys: 2 }),
    fc.dictionary(fc.string(), fc.jsonValue() as fc.Arbitrary<string>),
  ),
})
const anyAction: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('calls' as const), calls: fc.array(anyCall, { maxLength: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('message' as const), content: fc.string() }) },
)

describe('any sequence of actions', () => {
  it('never throws, and comes back as well-formed messages', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { maxLength: 12 }), (actions) => {
        const episode = environment.open(task, 0)
        let done = false
        for (const action of actions) {
          const outcome = episode.step(action)
          for (const message of outcome.messages) Message.parse(message)
          expect(outcome.messages.length).toBeGreaterThan(0)
          if (done) expect(outcome.done).toBe(true)
          done = outcome.done
        }
        const { counts } = episode.close()
        const mistakes = ['unknownTool', 'badArguments', 'notListed', 'afterEnd'].map(
          (kind) => counts[kind] ?? Number.NaN,
        )
        expect(counts.errors).toBe(mistakes.reduce((a, b) => a + b))
        expect(counts.answer).toBe(done ? 1 : 0)
      }),
    )
  })

  it('gives the same alone as among others that are open at the same time', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyAction, { maxLength: 6 }), { minLength: 2, maxLength: 4 }), (scripts) => {
        const alone = scripts.map((script) => {
          const episode = environment.open(task, 0)
          return { outcomes: script.map((action) => episode.step(action)), final: episode.close() }
        })
        const episodes = scripts.map(() => environment.open(task, 0))
        const outcomes = scripts.map((): unknown[] => [])
        for (let turn = 0; turn < 6; turn++) {
          for (const [i, script] of scripts.entries()) {
            const action = script[turn]
            if (action !== undefined) outcomes.at(i)!.push(episodes.at(i)!.step(action))
          }
        }
        expect(outcomes).toEqual(alone.map((one) => one.outcomes))
        expect(episodes.map((episode) => episode.close())).toEqual(alone.map((one) => one.final))
      }),
    )
  })
})

describe('SearchEnvironment', () => {
  it('keeps thousands of episodes open at once', () => {
    const episodes = Array.from({ length: 5000 }, (_, seed) => environment.open(task, seed))
    const wanted = (i: number) => titles.at(i % titles.length)!
    for (const [i, episode] of episodes.entries()) say(episode, 'search', { query: wanted(i) })
    for (const [i, episode] of episodes.entries()) {
      say(episode, 'answer', { text: say(episode, 'open', { title: wanted(i) }).content.split('\n')[0] })
    }
    const solved = episodes.filter((episode) => verify(episode.close()) === 1)
    expect(solved).toHaveLength(1000)
  })

  it('gives a task the documents of its split only', () => {
    const one = (title: string) => new Corpus([{ id: title, title, lines: ['x'] }])
    const split = new SearchEnvironment({
      train: one('aa train'),
      validation: one('aa valid'),
      holdout: one('aa holdout'),
    })
    const found = (['train', 'validation', 'holdout'] as const).map(
      (name) => say(split.open({ ...task, split: name }, 0), 'search', { query: 'aa' }).content,
    )
    expect(found).toEqual(['aa train', 'aa valid', 'aa holdout'])
  })

  it.each([[null], [{}], [{ accepted: [] }], [{ accepted: ['x'], expected: 'x' }]])(
    'refuses a task with data %j',
    (data) => {
      expect(() => environment.open({ ...task, data }, 0)).toThrow(MalformedTaskError)
    },
  )
})
