import { expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { lookup } from '../../../test/support/lookup.ts'
import { copiedWords, otherWords, poolOfWords } from './words.ts'
import { chosenIn, replaced, retold } from './retell.ts'

const colour = (name: string, word: string) => lookup(name, [], { document: `price 3\ncolour ${word}`, answer: word })
const demonstrations = [colour('Oak', 'green'), colour('Elm', 'yellow'), colour('Fir', 'price')]

it('words are copied where a whole argument is what a tool said', () => {
  expect(demonstrations.flatMap(copiedWords).map(({ text }) => text)).toEqual(['green', 'yellow', 'price'])
  expect(copiedWords(lookup('Oak', [])), 'two words hold their key').toEqual([])
  expect(copiedWords(lookup('Oak', [], { answer: 'blue' })), 'no tool said it').toEqual([])
})

const coining = { english: ['green', 'price', 'river'], chosen: new Set<string>() }

it('another word stands in its place, and none that the episode says already: a known one, or any', () => {
  const [oak] = demonstrations
  const pool = poolOfWords(demonstrations)
  const told = new Set<string>()
  for (let seed = 0; seed < 60; seed++) {
    const others = otherWords(oak!, pool, coining, rng('words', seed))
    const messages = retold(oak!.messages, (text) => replaced(text, others))
    const [, word] = /colour (.+)/.exec(messages[4]?.content ?? '') ?? []
    expect(messages[4]?.content).toBe(`price 3\ncolour ${word}`)
    expect(JSON.stringify(messages[5])).toContain(`"text":"${word}"`)
    told.add(word ?? '')
  }
  expect(told).toContain('yellow')
  expect(told).toContain('river')
  expect(told).not.toContain('price')
  expect(told.size).toBeGreaterThan(10)
})

it('of an argument whose values its schema lists, it stays', () => {
  const [oak] = demonstrations
  const pool = poolOfWords(demonstrations)
  for (let seed = 0; seed < 20; seed++) {
    const chosen = chosenIn(oak!, new Set(pool.keys()))
    expect(otherWords(oak!, pool, { ...coining, chosen }, rng('words', seed))).toEqual([])
  }
})
