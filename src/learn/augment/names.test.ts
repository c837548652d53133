import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DemonstratedEpisode, type Message, rng } from '../../core/index.ts'
import { lookup } from '../../../test/support/lookup.ts'
import { namesOf, otherNames, poolOfNames } from './names.ts'
import { chosenIn, replaced, retold } from './retell.ts'

const oak = lookup('Oak.grow', ['Oak.grow2', 'Oak.grow.fast', 'Oak'])
const train = ['Oak.grow', 'Elm.fall', 'Ash()', 'Fir.bend'].map((title) => ({
  instruction: `Since when has edge ${title}?`,
}))

const coining = { english: ['river', 'green'], chosen: new Set<string>() }

const textsOf = (episode: DemonstratedEpisode) => namesOf(episode).map(({ text }) => text)

describe('names of a demonstration', () => {
  it('are what the instruction says and the calls repeat; others stand in their place in other instructions', () => {
    expect(textsOf(oak)).toEqual(['Oak.grow'])
    const pool = [...poolOfNames([oak], train).values()].flat()
    expect(pool).toEqual(expect.arrayContaining(['Oak.grow', 'Elm.fall', 'Fir.bend']))
    expect(pool).not.toContain('edge')
  })

  it('are not what says something around a name', () => {
    const inFrames = ['Elm.fall', 'Ash.bow', 'Yew.run'].flatMap((name) => [
      name,
      `the backup of ${name}`,
      `what ${name} has as its backup`,
    ])
    const others = [...inFrames, 'the backup of Box', 'the red Bay'].map((name) => ({
      instruction: `Since when has edge ${name}?`,
    }))
    const pool = [...poolOfNames([oak], others).values()].flat()
    expect(pool.toSorted()).toEqual(['Ash.bow', 'Elm.fall', 'Oak.grow', 'Yew.run', 'the red Bay'])
  })

  it('are none where calls repeat nothing', () => {
    expect(namesOf({ messages: oak.messages.slice(0, 1) })).toEqual([])
  })

  describe('that a call gives as a number', () => {
    const order = (id: number, seen: string): DemonstratedEpisode => ({
      messages: [
        { role: 'user', content: `Cancel order ${id}.` },
        { role: 'tool', name: 'look', content: seen },
        { role: 'assistant', content: '', toolCalls: [{ name: 'cancel', arguments: { id } }] },
      ],
    })

    it('are keys, where tools say no other number as long', () => {
      expect(textsOf(order(4417, 'order 4417 price 20'))).toEqual(['4417'])
      expect(textsOf(order(4417, 'order 4417 price 2090')), 'a price can be compared').toEqual([])
      expect(textsOf(order(44, 'price 2090')), 'an amount').toEqual([])
      const { messages } = order(120, 'order 120 price 2')
      const total: Message = {
        role: 'assistant',
        content: '',
        toolCalls: [{ name: 'pay', arguments: { id: 120, total: 240 } }],
      }
      expect(textsOf({ messages: [...messages, total] }), 'what something may be computed from').toEqual([])
    })

    it('become numbers, wherever they stand', () => {
      const episode = order(4417, 'order 4417 price 20')
      const ids = new Set<number>()
      for (let seed = 0; seed < 60; seed++) {
        const others = otherNames(episode, poolOfNames([episode], []), coining, rng('id', seed))
        const [asked, seen, cancelled] = retold(episode.messages, (text) => replaced(text, others))
        const id = Number(/order (\d+)\./.exec(asked?.content ?? '')?.[1])
        expect(seen?.content).toBe(`order ${id} price 20`)
        expect(cancelled).toMatchObject({ toolCalls: [{ arguments: { id } }] })
        ids.add(id)
      }
      expect(ids.size).toBeGreaterThan(20)
      expect([...ids].filter((id) => id < 1000 || id > 9999)).toEqual([])
    })
  })

  it('hold no name that is a part of another', () => {
    const { messages } = lookup('pump 12', [])
    const answered = messages.map((message) =>
      message.role === 'assistant' && message.toolCalls?.[0]?.name === 'answer'
        ? { ...message, toolCalls: [{ name: 'answer', arguments: { text: '12' } }] }
        : message,
    )
    expect(textsOf({ messages: answered })).toEqual(['pump 12'])
  })
})

describe('other names', () => {
  const named = (count: number) => Array.from({ length: count }, (_, i) => `Elm.fall${i}`)
  const given = namesOf(oak)[0]?.given ?? ''
  const told = (pool: readonly string[], seed = 0) => {
    const others = otherNames(oak, new Map([[given, pool]]), coining, rng('told', seed))
    return retold(oak.messages, (text) => replaced(text, others))
  }
  const asked = (pool: readonly string[]) =>
    Array.from({ length: 60 }, (_, seed) => told(pool, seed)[0]?.content.slice('Since when has edge '.length, -1) ?? '')

  it('stand wherever the own ones stood, and only there', () => {
    for (let seed = 0; seed < 20; seed++) {
      const messages = told(named(8), seed)
      const text = JSON.stringify(messages)
      const [, name = ''] = /edge (\S+)\?/.exec(messages[0]?.content ?? '') ?? []
      expect(name).not.toBe('Oak.grow')
      expect(messages[2]?.content.split('\n')[0]).toBe(name)
      expect(text).toContain(`"query":"${name}"`)
      expect(text).toContain(`"title":"${name}"`)
      expect(text).toContain('edge 12')
    }
  })

  it('are those that others are given, and as many that nobody has', () => {
    const names = asked(named(8))
    const known = names.filter((name) => named(8).includes(name))
    expect(known.length).toBeGreaterThan(10)
    expect(known.length).toBeLessThan(50)
    expect(new Set(names).size).toBeGreaterThan(20)
  })

  it('are all coined where few are known', () => {
    for (const name of asked(named(7))) expect(named(7)).not.toContain(name)
  })

  it('share their parts with what shared them before', () => {
    const siblings = Array.from({ length: 60 }, (_, seed) => told([], seed)[2]?.content.split('\n') ?? [])
    for (const [name = '', , fast = '', parent = ''] of siblings) {
      expect(fast).toBe(`${name}.fast`)
      expect(parent).toBe(name.split('.')[0])
    }
  })

  it('leave alone what stands for itself among other words', () => {
    const episode = lookup('edge.grow', ['edge.fall'])
    for (let seed = 0; seed < 20; seed++) {
      const others = otherNames(episode, new Map(), { ...coining, english: [] }, rng('told', seed))
      const messages = retold(episode.messages, (text) => replaced(text, others))
      expect(messages[0]?.content).toMatch(/^Since when has edge \w+\.\w+\?$/)
      expect(messages[4]?.content).toBe('chrome 9\nedge 12')
    }
  })

  it('can be any text', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 2, maxLength: 20 }),
        fc.string({ minLength: 1, maxLength: 20 }),
        (name, other) => {
          // No drawn name stands in this document: there it would rightly be told otherwise.
          const episode = lookup(name, [], { document: 'chrome 9\nopera 2024-05', answer: 'opera 2024-05' })
          const pool = new Map(namesOf(episode).map(({ given }) => [given, [...named(8), other]]))
          const others = otherNames(episode, pool, { ...coining, english: [] }, rng('any'))
          const messages = retold(episode.messages, (text) => replaced(text, others))
          expect(messages).toHaveLength(episode.messages.length)
          expect(messages[4]).toEqual(episode.messages[4])
        },
      ),
      { examples: [['12  ', ' ']] },
    )
  })
})

it('names of different arguments do not stand for each other', () => {
  const asks = (customer: string, order: string): DemonstratedEpisode => ({
    messages: [
      { role: 'user', content: `I am ${customer}, order ${order}.` },
      { role: 'assistant', content: '', toolCalls: [{ name: 'customer', arguments: { name: customer } }] },
      { role: 'assistant', content: '', toolCalls: [{ name: 'order', arguments: { id: order } }] },
    ],
  })
  const demonstrations = Array.from({ length: 12 }, (_, i) => asks(`Ann${String.fromCharCode(65 + i)}`, `${200 + i}`))
  const pool = poolOfNames(demonstrations, [])
  expect(pool.size).toBe(2)
  for (const [i, demonstration] of demonstrations.entries()) {
    const others = otherNames(demonstration, pool, { ...coining, english: [] }, rng('kinds', i))
    const asked = replaced(demonstration.messages[0]?.content ?? '', others)
    expect(asked).toMatch(/^I am [A-Z]\p{L}+, order \d\d\d\.$/u)
  }
})

it('a name is no word that stands in the episode, and stays where its argument’s values are listed', () => {
  const river = lookup('river', [])
  const given = namesOf(river)[0]?.given ?? ''
  const said = river.messages.map(({ content }) => content).join(' ')
  const english = ['river', 'edge', 'stone']
  const namesGiven = (chosen: ReadonlySet<string>) =>
    Array.from({ length: 60 }, (_, seed) => {
      const others = otherNames(river, new Map([[given, ['brook']]]), { english, chosen }, rng('said', seed))
      return others[0]?.other ?? ''
    })
  expect(said).toContain('edge')
  expect(namesGiven(new Set())).toContain('stone')
  expect(namesGiven(new Set())).not.toContain('edge')
  expect(new Set(namesGiven(chosenIn(river, new Set([given]))))).toEqual(new Set(['']))
})
