import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../../core/index.ts'
import { QuestionKind, questionForms } from './question.ts'
import { browsers } from './support.ts'
import { courtesiesOf, framesOf, putInWords } from './wording.ts'
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
  const wordings = (set: 'seen' | 'heldOut') =>
    framesOf(kind, set).flatMap(({ form, sentence }) => courtesiesOf(form, set).map((courtesy) => courtesy + sentence))

  it('are many: at least 24 seen ones of 8 to 12 frames in every form, and at least 8 held-out frames', () => {
    expect(new Set(wordings('seen')).size).toBeGreaterThanOrEqual(24)
    expect(framesOf(kind, 'seen').length).toBeGreaterThanOrEqual(8)
    expect(framesOf(kind, 'seen').length).toBeLessThanOrEqual(12)
    expect(framesOf(kind, 'heldOut').length).toBeGreaterThanOrEqual(8)
    for (const set of sets) {
      expect([...new Set(framesOf(kind, set).map(({ form }) => form))]).toEqual([...forms])
    }
  })

  it('name all documents once, and the browser where one is asked about', () => {
    const { documents, asksBrowser } = questionForms[kind]
    const wanted = [...['a', 'b', 'c'].slice(0, documents), ...(asksBrowser ? ['browser'] : [])].sort()
    for (const { sentence } of sets.flatMap((set) => framesOf(kind, set))) expect(places(sentence)).toEqual(wanted)
  })

  it('have names of their own, so that no family is of two frames', () => {
    const names = sets.flatMap((set) => framesOf(kind, set)).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
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

it('deals the frames in turn and names the family after kind and frame', () => {
  const question = { kind: 'since' as const, browser: 'edge' as const, titles: ['X'] }
  const said = [0, 1, 12].map((turn) => putInWords(question, 'seen', turn, { ...rng(0), int: () => 0 }))
  expect(said).toEqual([
    { instruction: 'Which version of edge first supports X?', family: 'since: which-version-first-supports' },
    { instruction: 'From which version does edge support X?', family: 'since: from-which-version' },
    { instruction: 'Which version of edge first supports X?', family: 'since: which-version-first-supports' },
  ])
})

it('keeps some politeness and some names of browsers for held-out sentences', () => {
  for (const form of forms) {
    expect(courtesies.heldOut[form].filter((courtesy) => courtesiesOf(form, 'seen').includes(courtesy))).toEqual([])
    expect(courtesiesOf(form, 'heldOut')).toEqual([...courtesies.seen[form], ...courtesies.heldOut[form]])
  }
  for (const browser of browsers) {
    expect(browserNames.seen[browser]).toContain(browser)
    expect(browserNames.heldOut[browser].filter((name) => browserNames.seen[browser].includes(name))).toEqual([])
  }
})
