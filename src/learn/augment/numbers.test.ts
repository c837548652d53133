import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DemonstratedEpisode, rng } from '../../core/index.ts'
import { lookup } from '../../../test/support/lookup.ts'
import { otherNumbers, renumbered } from './numbers.ts'

const heard = (content: string): DemonstratedEpisode => ({
  messages: [
    { role: 'user', content: 'Order 77, please.' },
    { role: 'tool', name: 'look', content },
  ],
})
const numbersIn = (content: string, seed = 0) => otherNumbers(heard(content), rng('numbers', seed))

describe('other numbers', () => {
  it('stand for what tools say, and not for what is asked', () => {
    const others = numbersIn('77 cost 12.5 and weigh 340')
    expect([...others.keys()].toSorted()).toEqual(['12', '340', '5'])
    expect(renumbered('77: 340', others)).toBe(`77: ${others.get('340')}`)
  })

  it('are copied by the calls that copied the first', () => {
    const others = otherNumbers(lookup('Oak.grow', []), rng('copied'))
    const [chrome, edge] = [others.get('9'), others.get('12')]
    expect(renumbered('chrome 9\nedge 12', others)).toBe(`chrome ${chrome}\nedge ${edge}`)
    expect(renumbered('edge 12', others)).toBe(`edge ${edge}`)
  })

  it('are as long, as many and in the same order, whatever tools say', () => {
    const number = fc.integer({ min: 2, max: 99_999 })
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 12 }), fc.integer(), (said, seed) => {
        const others = numbersIn(said.join(' '), seed)
        const told = said.map((one) => Number(others.get(String(one)) ?? one))
        expect(told.map((one) => String(one).length)).toEqual(said.map((one) => String(one).length))
        for (const [i, a] of said.entries()) {
          for (const [j, b] of said.entries()) expect(Math.sign(told[i]! - told[j]!)).toBe(Math.sign(a - b))
        }
      }),
    )
  })

  it('are none for 0, 1, what begins with 0 or is very long, and where hardly another is free', () => {
    expect([...numbersIn('0 1 007 12345678901')]).toEqual([])
    const crowded = numbersIn('2 3 4 5 6 7 8 9')
    expect(renumbered('2 3 4 5 6 7 8 9', crowded)).toBe('2 3 4 5 6 7 8 9')
  })

  it('leave numbers of one digit where the agent may count', () => {
    const answers = (text: string): DemonstratedEpisode => {
      const toolCalls = [{ name: 'answer', arguments: { text } }]
      return { messages: [...heard('3, 16, 3.5').messages, { role: 'assistant', content: '', toolCalls }] }
    }
    const keysOf = (text: string) => [...otherNumbers(answers(text), rng('count')).keys()].toSorted()
    expect(keysOf('3 3.5 16')).toEqual(['16'])
    expect(keysOf('edge 3')).toEqual(['16', '3', '5'])
    expect(keysOf('edge 16 1')).toEqual(['16', '3', '5'])
  })

  it('are on the same side of a number that is asked for', () => {
    const number = fc.integer({ min: 10, max: 99 })
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 8 }), number, fc.integer(), (said, bound, seed) => {
        const { messages } = heard(said.join(' '))
        const asking = [{ role: 'user' as const, content: `Reorder what is below ${bound}.` }, ...messages.slice(1)]
        const others = otherNumbers({ messages: asking }, rng('bound', seed))
        for (const one of said) {
          const told = Number(others.get(String(one)) ?? one)
          expect(Math.sign(told - bound)).toBe(Math.sign(one - bound))
        }
      }),
    )
    const { messages } = heard('left 15 and 55')
    const asking = { messages: [{ role: 'system' as const, content: 'Reorder below 20.' }, ...messages] }
    const told = new Set(Array.from({ length: 40 }, (_, seed) => otherNumbers(asking, rng('b', seed)).get('55')))
    expect(told.size).toBeGreaterThan(10)
  })

  it('are none where the agent says one that it may have computed, unless it is a constant', () => {
    const sum: DemonstratedEpisode = {
      messages: [
        ...heard('15 and 340').messages,
        { role: 'assistant', content: '', toolCalls: [{ name: 'answer', arguments: { total: 355 } }] },
      ],
    }
    expect(otherNumbers(sum, rng('sum'))).toEqual(new Map())
    expect([...otherNumbers(sum, rng('sum'), new Set(['355'])).keys()]).toEqual(['15', '340'])
  })

  it('leave numbers of one digit where a call is given one: a page, or how many', () => {
    const paging: DemonstratedEpisode = {
      messages: [
        ...heard('page 1 of 3, weight 40').messages,
        { role: 'assistant', content: '', toolCalls: [{ name: 'list', arguments: { page: 2 } }] },
      ],
    }
    expect([...otherNumbers(paging, rng('page')).keys()]).toEqual(['40'])
  })

  it('leave those in values that a schema lists', () => {
    const others = otherNumbers(heard('suggested p2 or 25, weight 40'), rng('chosen'), new Set(), new Set(['p2', '25']))
    expect([...others.keys()]).toEqual(['40'])
  })

  it('differ from draw to draw', () => {
    const drawn = new Set(Array.from({ length: 20 }, (_, seed) => numbersIn('weight 340', seed).get('340')))
    expect(drawn.size).toBeGreaterThan(10)
  })
})
