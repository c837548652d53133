import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Corpus } from './corpus.ts'
import { MalformedCorpusError } from './malformed-corpus-error.ts'

const corpusOf = (...titles: string[]) => new Corpus(titles.map((title) => ({ id: title, title, lines: ['text'] })))

describe('Corpus', () => {
  it('lists the three best titles alphabetically, not by rank', () => {
    const corpus = corpusOf('Builder.relu', 'Builder.prelu', 'Builder.elu', 'width', 'height')
    expect(corpus.search('Builder.relu')).toEqual(['Builder.elu', 'Builder.prelu', 'Builder.relu'])
  })

  it('searches text as well as titles, or titles alone', () => {
    const documents = [
      { id: '1', title: 'Lisbon', lines: ['The capital of Portugal'] },
      { id: '2', title: 'Oslo', lines: ['The capital of Norway'] },
    ]
    expect(new Corpus(documents).search('Norway')).toContain('Oslo')
    expect(new Corpus(documents, 'title').search('Norway')).toEqual([])
  })

  it('always lists a document whose title is the query, however many read alike', () => {
    const title = fc.stringMatching(/^[ab]{1,6}$/)
    fc.assert(
      fc.property(fc.uniqueArray(title, { minLength: 1, maxLength: 30 }), (titles) => {
        const corpus = corpusOf(...titles)
        for (const each of titles) expect(corpus.search(each)).toContain(each)
      }),
    )
  })

  it('finds the same whatever order the documents came in', () => {
    const titles = ['b one', 'a one', 'c one', 'd one', 'one']
    expect(corpusOf(...titles).search('one two')).toEqual(corpusOf(...titles.toReversed()).search('one two'))
  })

  it('refuses duplicates, emptiness and titles that could not be listed', () => {
    expect(() => corpusOf('a', 'b', 'a')).toThrow(MalformedCorpusError)
    expect(() => new Corpus([])).toThrow('no documents')
    for (const title of ['two\nlines', ' padded', '', 'x'.repeat(201)])
      expect(() => corpusOf(title)).toThrow(MalformedCorpusError)
  })
})
