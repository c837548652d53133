import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { corpusFromJsonl } from './corpus-jsonl.ts'
import { MalformedCorpusError } from './malformed-corpus-error.ts'
import { tasksFromJsonl } from './tasks-jsonl.ts'

const lisbon = '{"id":"1","title":"Lisbon","lines":["capital of Portugal","on the Tagus"]}'
const oslo = '{"id":"2","title":"Oslo","text":"capital of Norway\\non a fjord"}'

function errorOf(act: () => unknown): MalformedCorpusError {
  try {
    act()
  } catch (error) {
    if (error instanceof MalformedCorpusError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

it('reads documents given as lines or as text, past a byte order mark, Windows line ends and blank lines', () => {
  const corpus = corpusFromJsonl({ text: `\uFEFF${lisbon}\r\n\r\n${oslo}\r\n` })
  expect(corpus.documents.map(({ title }) => title)).toEqual(['Lisbon', 'Oslo'])
  expect(corpus.document('Oslo')?.lines).toEqual(['capital of Norway', 'on a fjord'])
})

it('reads a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'corpus-'))
  try {
    writeFileSync(join(folder, 'corpus.jsonl'), `${lisbon}\n${oslo}`)
    expect(corpusFromJsonl({ path: join(folder, 'corpus.jsonl') }).documents).toHaveLength(2)
    expect(errorOf(() => corpusFromJsonl({ path: join(folder, 'none.jsonl') })).message).toContain(
      'none.jsonl cannot be read',
    )
    expect(errorOf(() => corpusFromJsonl({ path: folder })).code).toBe('environment/malformed-corpus')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it.each([
  ['not JSON', '{"id":"2","title"', 'not JSON'],
  ['not an object', '[1]', 'expected object'],
  ['a missing title', '{"id":"2","text":"x"}', 'title'],
  ['neither lines nor text', '{"id":"2","title":"Oslo"}', 'either "lines" or "text"'],
  ['both lines and text', '{"id":"2","title":"Oslo","text":"x","lines":["x"]}', 'either "lines" or "text"'],
  ['an unknown field', '{"id":"2","title":"Oslo","text":"x","txet":"y"}', 'txet'],
  ['a number for a title', '{"id":"2","title":7,"text":"x"}', 'title'],
  ['a title of two lines', '{"id":"2","title":"a\\nb","text":"x"}', 'title'],
  ['no lines', '{"id":"2","title":"Oslo","lines":[]}', 'lines'],
  ['a duplicate id', '{"id":"1","title":"Oslo","text":"x"}', 'Lines 1 and 3 have the same id "1"'],
  ['a duplicate title', '{"id":"3","title":"Lisbon","text":"x"}', 'same title "Lisbon"'],
])('names the line of %s', (_what, line, words) => {
  const error = errorOf(() => corpusFromJsonl({ text: `${lisbon}\n\n${line}\n${oslo}` }))
  expect(error.line).toBe(3)
  expect(error.message).toContain(words)
  expect(error.hint).not.toBe('')
})

it('refuses an empty file', () => {
  expect(errorOf(() => corpusFromJsonl({ text: ' \n\n' })).message).toContain('no document')
})

const task = '{"id":"t1","instruction":"Capital of Norway?","answer":"Oslo","split":"train"}'

it('reads tasks with one accepted answer or several', () => {
  const second =
    '{"id":"t2","instruction":"And of Portugal?","answer":["Lisbon","Lisboa"],"split":"holdout","tier":"easy","family":"capitals"}'
  expect(tasksFromJsonl({ text: `${task}\n${second}` })).toEqual([
    { id: 't1', instruction: 'Capital of Norway?', data: { accepted: ['Oslo'] }, split: 'train' },
    {
      id: 't2',
      instruction: 'And of Portugal?',
      data: { accepted: ['Lisbon', 'Lisboa'] },
      split: 'holdout',
      tier: 'easy',
      family: 'capitals',
    },
  ])
})

it.each([
  ['an unknown split', '{"id":"t2","instruction":"?","answer":"x","split":"test"}', 'split'],
  ['no accepted answer', '{"id":"t2","instruction":"?","answer":[],"split":"train"}', 'answer'],
  ['a blank answer', '{"id":"t2","instruction":"?","answer":" ","split":"train"}', 'answer'],
  [
    'an answer that the tool would refuse',
    `{"id":"t2","instruction":"?","answer":"${'x'.repeat(257)}","split":"train"}`,
    'answer',
  ],
  ['a duplicate id', task, 'Lines 1 and 2 have the same id'],
])('names the line of a task with %s', (_what, line, words) => {
  const error = errorOf(() => tasksFromJsonl({ text: `${task}\n${line}` }))
  expect(error.line).toBe(2)
  expect(error.message).toContain(words)
})
