import { expect, it } from 'vitest'
import { type DemonstratedEpisode, rng } from '../../core/index.ts'
import { call, lookup } from '../../../test/support/lookup.ts'
import { copiedWords, otherWords, poolOfWords, saidEverywhere } from './words.ts'
import { chosenIn, replaced, retold } from './retell.ts'

const colour = (name: string, word: string) => lookup(name, [], { document: `price 3\ncolour ${word}`, answer: word })
const demonstrations = [colour('Oak', 'green'), colour('Elm', 'yellow'), colour('Fir', 'price')]

it('words are copied where a whole argument is what a tool said', () => {
  expect(demonstrations.flatMap((one) => copiedWords(one)).map(({ text }) => text)).toEqual([
    'green',
    'yellow',
    'price',
  ])
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

const page = (name: string, owner: string, answer = owner) =>
  lookup(name, [], { document: `owner ${owner}\nprice 3`, answer })
const pages = [
  page('Oak', 'Gina Marsh'),
  page('Elm', 'Stark and Sons', 'Stark and Sons'),
  page('Fir', 'Hall and Weber'),
  page('Ash', 'Ian Frost', 'owner Ian Frost'),
]

const many = [...pages, ...pages.map(() => page('Yew', 'Ada Lund'))]
const everywhere = saidEverywhere(many)

it('several words are copied, too: those stay that can be the key of the others', () => {
  expect(pages.map((one) => copiedWords(one, everywhere).map(({ free }) => free))).toEqual([
    [['Gina', 'Marsh']],
    [['Stark', 'Sons']],
    [['Hall', 'Weber']],
    [['Ian', 'Frost']],
  ])
  const asked = copiedWords(lookup('Oak', [], { document: 'edge beta', answer: 'edge beta' }))
  expect(
    asked.map(({ free }) => free),
    'the instruction says edge',
  ).toEqual([['beta']])
  expect(copiedWords(lookup('Oak', [])), 'a number is none of them').toEqual([])
})

it('several words become others wherever they stand as one, and their key stays', () => {
  const pool = poolOfWords(many, everywhere)
  for (const one of pages) {
    const told = new Set<string>()
    for (let seed = 0; seed < 40; seed++) {
      const others = otherWords(one, pool, { ...coining, everywhere }, rng('phrases', seed))
      const messages = retold(one.messages, (text) => replaced(text, others))
      const [, owner = ''] = /^owner (.+)/.exec(messages[4]?.content ?? '') ?? []
      expect(JSON.stringify(messages[5])).toMatch(new RegExp(`"text":"(owner )?${owner}"`))
      told.add(owner)
    }
    expect(told.size).toBeGreaterThan(10)
  }
})

it('what stands in a longer text is told alike there', () => {
  const title = 'Neva bus / Lucky Doris'
  const hop: DemonstratedEpisode = {
    messages: [
      { role: 'user', content: 'Who owns the backup of Oak?' },
      { role: 'tool', name: 'open', content: 'backup Neva bus' },
      call('search', { query: 'Neva bus' }),
      { role: 'tool', name: 'search', content: title },
      call('open', { title }),
    ],
  }
  const backups = new Set<string>()
  for (let seed = 0; seed < 40; seed++) {
    const others = otherWords(hop, new Map(), coining, rng('longer', seed))
    const [, seen, searched, found, opened] = retold(hop.messages, (text) => replaced(text, others))
    const [, backup = ''] = /^backup (.+)/.exec(seen?.content ?? '') ?? []
    expect(searched).toMatchObject({ toolCalls: [{ arguments: { query: backup } }] })
    expect(found?.content.startsWith(`${backup} / `)).toBe(true)
    expect(opened).toMatchObject({ toolCalls: [{ arguments: { title: found?.content } }] })
    backups.add(backup)
  }
  expect(backups.size).toBeGreaterThan(10)
})
