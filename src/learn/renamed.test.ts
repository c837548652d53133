import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DemonstratedEpisode, type Message, rng } from '../core/index.ts'
import { namesIn, renamed } from './renamed.ts'

const call = (name: string, args: Record<string, string>): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name, arguments: args }],
})
const shown = (title: string, siblings: readonly string[]): DemonstratedEpisode => ({
  messages: [
    { role: 'user', content: `Since when has edge ${title}?` },
    call('search', { query: title }),
    { role: 'tool', name: 'search', content: [title, ...siblings].join('\n') },
    call('open', { title }),
    { role: 'tool', name: 'open', content: 'chrome 9\nedge 12' },
    call('answer', { text: 'edge 12' }),
  ],
})
const oak = shown('Oak.grow', ['Oak.grow2', 'Oak.grow.fast', 'Oak'])
const train = ['Oak.grow', 'Elm.fall', 'Ash()', 'Fir.bend'].map((title) => ({
  instruction: `Since when has edge ${title}?`,
}))

describe('names in demonstrations', () => {
  it('are what the instruction says and the calls repeat; others stand in their place in other instructions', () => {
    const { pool, inEach } = namesIn([oak], train)
    expect(inEach).toEqual([['Oak.grow']])
    expect(pool).toEqual(expect.arrayContaining(['Oak.grow', 'Elm.fall', 'Fir.bend']))
    expect(pool).not.toContain('edge')
  })

  it('are none where calls repeat nothing', () => {
    const silent: DemonstratedEpisode = { messages: [{ role: 'user', content: 'Hello' }, call('wave', {})] }
    expect(namesIn([silent], train).inEach).toEqual([[]])
  })
})

describe('a demonstration told of other things', () => {
  const told = renamed(oak, ['Oak.grow'], ['Oak.grow', 'Elm.fall'], rng('told'))
  const text = JSON.stringify(told.messages)

  it('has another name wherever its own stood, and only there', () => {
    expect(told.messages[0]?.content).toBe('Since when has edge Elm.fall?')
    expect(told.messages[2]?.content).toBe('Elm.fall\nOak.grow2\nOak.grow.fast\nOak')
    expect(text).toContain('"query":"Elm.fall"')
    expect(text).toContain('"title":"Elm.fall"')
    expect(text).toContain('edge 12')
  })

  it('stays as it is where there is no other name', () => {
    expect(renamed(oak, ['Oak.grow'], ['Oak.grow'], rng('told')).messages).toEqual(oak.messages)
    expect(renamed(oak, [], ['Elm.fall'], rng('told')).messages).toEqual(oak.messages)
  })

  it('takes any name literally', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 2, maxLength: 20 }),
        fc.string({ minLength: 1, maxLength: 20 }),
        (name, other) => {
          const episode = shown(name, [])
          const { inEach } = namesIn([episode], [])
          const { messages } = renamed(episode, inEach[0] ?? [], [other], rng('any'))
          expect(messages).toHaveLength(episode.messages.length)
          expect(messages[4]).toEqual(episode.messages[4])
        },
      ),
    )
  })
})
