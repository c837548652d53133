import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { type Kept, Wording, wordsInUse } from './wording.ts'

const train = ['Oak', 'Elm', 'Fir'].map((name) => ({ instruction: `Please tell me the age of ${name}.` }))
const words = wordsInUse(train)

it('words in use are those that several instructions have', () => {
  expect(new Set(words)).toEqual(new Set(['Please', 'tell', 'me', 'the', 'age', 'of']))
})

describe('an instruction in other words', () => {
  const others = ['mill', 'seldom', 'sang']
  const wording = new Wording(words, others)
  const asked = 'Please tell me the age of old Oak tree.'
  const told = (seed: number, kept: Partial<Kept> = {}) =>
    wording.disturbed(asked, { names: [], words: [], ...kept }, rng('words', seed))
  const all = Array.from({ length: 400 }, (_, seed) => told(seed))

  it('lacks some common words and has some more, and all the others', () => {
    for (const one of all) for (const word of ['old', 'Oak', 'tree.']) expect(one.split(' ')).toContain(word)
    const lengths = all.map((one) => one.split(' ').length)
    expect(Math.min(...lengths)).toBeLessThan(9)
    expect(Math.max(...lengths)).toBeGreaterThan(9)
  })

  it('has words that no instruction has, of either list', () => {
    for (const other of [...others, 'tell']) expect(all.join(' ').split(other).length).toBeGreaterThan(20)
    expect(
      all.some((one) => /Oak (mill|seldom|sang)/.test(one)),
      'beside a name, too',
    ).toBe(true)
  })

  it('is now nearly as it was, now far from it', () => {
    const left = all.map((one) => asked.split(' ').filter((word) => one.split(' ').includes(word)).length)
    expect(left.filter((count) => count === 9).length).toBeGreaterThan(40)
    expect(left.filter((count) => count <= 7).length).toBeGreaterThan(20)
  })

  it('has words in another order, and names in their own', () => {
    const places = (seed: number) => {
      const words = told(seed, { names: ['old', 'Oak', 'tree'] }).split(' ')
      return ['old', 'Oak', 'tree.'].map((name) => words.indexOf(name))
    }
    for (let seed = 0; seed < 400; seed++) expect(places(seed)).toEqual(places(seed).toSorted((a, b) => a - b))
    expect(all.filter((one) => one.indexOf('Oak') < one.indexOf('old')).length).toBeGreaterThan(4)
  })

  it('keeps what is to be kept in one piece', () => {
    for (let seed = 0; seed < 200; seed++) expect(told(seed, { words: ['age of old Oak'] })).toContain('age of old Oak')
  })

  it('of which nobody tells what it is about, keeps in one piece what few instructions say', () => {
    const asks = Array.from({ length: 200 }, (_, seed) => wording.asked(asked, rng('asked', seed)))
    for (const one of asks) expect(one).toContain('old Oak tree.')
    expect(new Set(asks).size).toBeGreaterThan(60)
    expect(asks.some((one) => !one.includes('age'))).toBe(true)
  })

  it('is never empty, whatever is said', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.array(fc.string()), fc.integer(), (instruction, kept, seed) => {
        expect(wording.disturbed(instruction, { names: kept, words: [] }, rng(seed)).length).toBeGreaterThan(0)
      }),
    )
  })

  it('is the same where no word is in use', () => {
    expect(new Wording([], others).disturbed('Wie alt ist sie?', { names: [], words: [] }, rng('none'))).toBe(
      'Wie alt ist sie?',
    )
  })
})
