import { describe, expect, it } from 'vitest'
import type { DemonstratedEpisode, Json } from '../../core/index.ts'
import { constantsOf, givesFraction, untoldIn } from './said-numbers.ts'

const counting = (asked: string, seen: string, given: Json): DemonstratedEpisode => ({
  messages: [
    { role: 'system', content: 'Reorder below 20.' },
    { role: 'user', content: asked },
    { role: 'tool', name: 'look', content: seen },
    { role: 'assistant', content: '', toolCalls: [{ name: 'book', arguments: { given } }] },
  ],
})
const untold = (...args: Parameters<typeof counting>) => [...untoldIn(counting(...args))]

describe('untold numbers', () => {
  it('are those of two digits or more that nobody said before the agent', () => {
    expect(untold('Order 77.', 'left 15', [15, 77, 20, 3])).toEqual([])
    expect(untold('Order 77.', 'left 15 and 16', { sum: 31 })).toEqual(['31'])
    expect(untold('Order 77.', 'left 4,417', 4417), 'written in another way').toEqual(['4417'])
  })

  it('are constants where many episodes say one', () => {
    const noon = Array.from({ length: 4 }, (_, i) => counting('At noon.', `left ${30 + i}`, [12, 50 + i]))
    expect(constantsOf(noon)).toEqual(new Set(['12']))
    expect(constantsOf(noon.slice(0, 3))).toEqual(new Set())
    const sums = Array.from({ length: 30 }, (_, i) => counting('Add.', 'left 3', 10 + (i % 10)))
    expect(constantsOf(sums), 'sums that come to ten values').toEqual(new Set())
  })
})

it('a fraction is a number that is not whole', () => {
  const gives = (given: Json) => givesFraction(counting('Go.', '', given))
  expect([gives(12), gives(-3), gives('12.5'), gives([{ rate: 12.5 }]), gives(1e21)]).toEqual([
    false,
    false,
    false,
    true,
    true,
  ])
})
