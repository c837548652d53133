import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { disturbed, wordsInUse } from './wording.ts'

const train = ['Oak', 'Elm', 'Fir'].map((name) => ({ instruction: `Please tell me the age of ${name}.` }))
const words = wordsInUse(train)

it('words in use are those that several instructions have', () => {
  expect(new Set(words)).toEqual(new Set(['Please', 'tell', 'me', 'the', 'age', 'of']))
})

describe('an instruction in other words', () => {
  const told = (seed: number, kept: readonly string[] = []) =>
    disturbed('Please tell me the age of old Oak tree.', kept, words, rng('words', seed))

  it('lacks some common words and has some more, and all the others in their order', () => {
    const all = Array.from({ length: 200 }, (_, seed) => told(seed))
    for (const one of all) expect(one).toMatch(/old( \w+)* Oak( \w+)* tree\.$/)
    expect(new Set(all).size).toBeGreaterThan(100)
    const lengths = all.map((one) => one.split(' ').length)
    expect(Math.min(...lengths)).toBeLessThan(9)
    expect(Math.max(...lengths)).toBeGreaterThan(9)
  })

  it('keeps what is to be kept in one piece', () => {
    for (let seed = 0; seed < 200; seed++) expect(told(seed, ['age of old Oak'])).toContain('age of old Oak')
  })

  it('is never empty, whatever is said', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.array(fc.string()), fc.integer(), (instruction, kept, seed) => {
        expect(disturbed(instruction, kept, words, rng(seed)).length).toBeGreaterThan(0)
      }),
    )
  })

  it('is the same where no word is in use', () => {
    expect(disturbed('Wie alt ist sie?', [], [], rng('none'))).toBe('Wie alt ist sie?')
  })
})
