import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../../core/index.ts'
import { QuestionKind, questionForms } from './question.ts'
import { browsers } from './support.ts'
import { framesOf, putInWords, type WordingSet } from './wording.ts'
import { browserNames } from './wordings/browser-names.ts'
import { courtesies } from './wordings/courtesies.ts'
import { forms } from './wordings/frame.ts'

const sets = ['seen', 'heldOut'] as const
const kinds = QuestionKind.options
const places = (sentence: string) => [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()
const words = (sentence: string) => new Set(sentence.replaceAll(/\{\w+\}/g, '').match(/[a-z]+/gi))

/** Share of the words of either sentence that are in both. */
function overlap(one: string, other: string): number {
  const [a, b] = [words(one), words(other)]
  return [...a].filter((word) => b.has(word)).length / new Set([...a, ...b]).size
}

describe.each(kinds)('the wordings of %s', (kind) => {
  it('are many: at least 24 seen sentences, in every form, and at least 8 held-out ones, none twice', () => {
    expect(framesOf(kind, 'seen').length).toBeGreaterThanOrEqual(24)
    expect(framesOf(kind, 'heldOut').length).toBeGreaterThanOrEqual(8)
    for (const set of sets) {
      expect([...new Set(framesOf(kind, set).map(({ form }) => form))]).toEqual([...forms])
      expect(new Set(framesOf(kind, set).map(({ sentence }) => sentence)).size).toBe(framesOf(kind, set).length)
    }
  })

  it('name all documents once, and the browser where one is asked about', () => {
    const { documents, asksBrowser } = questionForms[kind]
    const wanted = [...['a', 'b', 'c'].slice(0, documents), ...(asksBrowser ? ['browser'] : [])].sort()
    for (const { sentence } of sets.flatMap((set) => framesOf(kind, set))) expect(places(sentence)).toEqual(wanted)
  })

  it('hold out sentences that share less than half of their words with any seen one', () => {
    for (const { sentence } of framesOf(kind, 'heldOut')) {
      for (const seen of framesOf(kind, 'seen')) expect(overlap(sentence, seen.sentence)).toBeLessThan(0.5)
    }
  })

  it('put every title after a space and before no letter, whatever it reads like', () => {
    const title = fc.stringMatching(/^[\w{}$().-]{1,12}$/)
    const browser = fc.constantFrom(...browsers)
    const { documents, asksBrowser } = questionForms[kind]
    fc.assert(
      fc.property(
        fc.array(title, { minLength: documents, maxLength: documents }),
        browser,
        fc.constantFrom(...sets),
        fc.nat({ max: 50 }),
        fc.nat(),
        (titles, asked, set, turn, seed) => {
          const question = { kind, browser: asksBrowser ? asked : null, titles }
          const { instruction } = putInWords(question, set, turn, rng('wording', seed))
          for (const one of titles) {
            const copies = [' ', '?', '.', ',', ':'].map((after) => ` ${one}${after}`)
            expect(
              copies.some((copy) => `${instruction} `.includes(copy)),
              instruction,
            ).toBe(true)
          }
        },
      ),
    )
  })
})

it('deals the frames in turn and names the family after kind and sentence', () => {
  const question = { kind: 'since' as const, browser: 'edge' as const, titles: ['X'] }
  const said = [0, 1, framesOf('since', 'seen').length].map((turn) =>
    putInWords(question, 'seen', turn, { ...rng(0), int: () => 0 }),
  )
  expect(said).toEqual([
    { instruction: 'Which version of edge first supports X?', family: 'since: which version of … first supports …' },
    { instruction: 'From which version does edge support X?', family: 'since: from which version does … support …' },
    { instruction: 'Which version of edge first supports X?', family: 'since: which version of … first supports …' },
  ])
})

/** What is said around sentences of a form, and the names that browsers are called, in many draws. */
function saidAround(set: WordingSet, turn: number): string[] {
  return Array.from({ length: 400 }, (_, seed) => {
    const question = { kind: 'since' as const, browser: 'edge' as const, titles: ['X'] }
    return putInWords(question, set, turn, rng('around', seed)).instruction
  })
}

it('says held-out courtesies and names around held-out sentences only', () => {
  for (const [at, { form }] of framesOf('since', 'heldOut').entries()) {
    const turn = framesOf('since', 'seen').findIndex((frame) => frame.form === form)
    const [seen, heldOut] = [saidAround('seen', turn), saidAround('heldOut', at)]
    const says = (courtesy: string) => {
      const [before = '', after = ''] = courtesy.split(/\{[aA]sk\}/)
      return (instruction: string) => instruction.startsWith(before) && instruction.endsWith(after)
    }
    for (const courtesy of courtesies.heldOut[form]) {
      expect(courtesies.seen[form]).not.toContain(courtesy)
      expect(heldOut.some(says(courtesy)), courtesy).toBe(true)
    }
    for (const courtesy of courtesies.seen[form]) expect(seen.some(says(courtesy)), courtesy).toBe(true)
    for (const name of browserNames.heldOut.edge) {
      expect(heldOut.some((instruction) => instruction.includes(name))).toBe(true)
      expect(seen.some((instruction) => instruction.includes(name))).toBe(false)
    }
  }
})

it('names browsers as documents do, among others', () => {
  for (const browser of browsers) expect(browserNames.seen[browser]).toContain(browser)
})
