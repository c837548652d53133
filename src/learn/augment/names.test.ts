import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DemonstratedEpisode, rng } from '../../core/index.ts'
import { lookup } from '../../../test/support/lookup.ts'
import { namesOf, otherNames, poolOfNames } from './names.ts'
import { replaced, retold } from './retell.ts'

const oak = lookup('Oak.grow', ['Oak.grow2', 'Oak.grow.fast', 'Oak'])
const train = ['Oak.grow', 'Elm.fall', 'Ash()', 'Fir.bend'].map((title) => ({
  instruction: `Since when has edge ${title}?`,
}))

const textsOf = (episode: DemonstratedEpisode) => namesOf(episode).map(({ text }) => text)

describe('names of a demonstration', () => {
  it('are what the instruction says and the calls repeat; others stand in their place in other instructions', () => {
    expect(textsOf(oak)).toEqual(['Oak.grow'])
    const pool = [...poolOfNames([oak], train).values()].flat()
    expect(pool).toEqual(expect.arrayContaining(['Oak.grow', 'Elm.fall', 'Fir.bend']))
    expect(pool).not.toContain('edge')
  })

  it('are none where calls repeat nothing', () => {
    expect(namesOf({ messages: oak.messages.slice(0, 1) })).toEqual([])
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
  const told = (pool: readonly string[], given = namesOf(oak)[0]?.given ?? '') => {
    const others = otherNames(namesOf(oak), new Map([[given, pool]]), rng('told'))
    return retold(oak.messages, (text) => replaced(text, others))
  }

  it('stand wherever the own ones stood, and only there', () => {
    const messages = told(named(8))
    const text = JSON.stringify(messages)
    const [name = ''] = /Elm\.fall\d/.exec(text) ?? []
    expect(messages[0]?.content).toBe(`Since when has edge ${name}?`)
    expect(messages[2]?.content).toBe(`${name}\nOak.grow2\nOak.grow.fast\nOak`)
    expect(text).toContain(`"query":"${name}"`)
    expect(text).toContain(`"title":"${name}"`)
    expect(text).toContain('edge 12')
  })

  it('are none where there are too few, or only what other arguments are given', () => {
    expect(told(named(7))).toEqual(oak.messages)
    expect(told(named(8), 'another argument')).toEqual(oak.messages)
  })

  it('can be any text', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 2, maxLength: 20 }),
        fc.string({ minLength: 1, maxLength: 20 }),
        (name, other) => {
          const episode = lookup(name, [])
          const pool = new Map(namesOf(episode).map(({ given }) => [given, [...named(8), other]]))
          const others = otherNames(namesOf(episode), pool, rng('any'))
          const messages = retold(episode.messages, (text) => replaced(text, others))
          expect(messages).toHaveLength(episode.messages.length)
          expect(messages[4]).toEqual(episode.messages[4])
        },
      ),
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
    const others = otherNames(namesOf(demonstration), pool, rng('kinds', i))
    const asked = replaced(demonstration.messages[0]?.content ?? '', others)
    expect(asked).toMatch(/^I am Ann[A-L], order 2\d\d\.$/)
  }
})
