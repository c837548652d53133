import { expect, it } from 'vitest'
import { answerQuestion, questionForms } from './question.ts'
import type { SupportTable } from './support.ts'

const table = (chrome: string, safari: string): SupportTable => ({
  chrome,
  edge: 'never',
  firefox: 'never',
  opera: 'never',
  safari,
})

it('answers since with the line or the value alone', () => {
  const question = { kind: 'since', browser: 'safari', titles: ['a'] } as const
  expect(answerQuestion({ ...question, titles: ['a'] }, [table('1', '15.4')])).toEqual(['safari 15.4', '15.4'])
  expect(answerQuestion({ ...question, titles: ['a'] }, [table('1', 'never')])).toEqual(['safari never', 'never'])
})

it('answers which-first with the earlier title and both versions, earlier first', () => {
  const question = { kind: 'which-first' as const, browser: 'safari' as const, titles: ['a', 'b'] }
  expect(answerQuestion(question, [table('1', '15.10'), table('1', '15.4')])).toEqual(['b 15.4 15.10'])
  expect(answerQuestion(question, [table('1', '9'), table('1', 'never')])).toEqual(['a 9 never'])
  expect(questionForms['which-first'].settled?.([table('1', '9'), table('1', '9')], 'safari')).toBe(false)
  expect(questionForms['which-first'].reading(table('1', 'never'), 'safari')).toBeNull()
})

it('answers wherever with the browsers that lack the first and have the second', () => {
  const question = { kind: 'wherever' as const, browser: null, titles: ['a', 'b'] }
  expect(answerQuestion(question, [table('1', '2'), table('1', 'never')])).toEqual(['yes'])
  expect(answerQuestion(question, [table('never', 'never'), table('1', '2')])).toEqual(['no chrome safari'])
  expect(questionForms.wherever.settled?.([table('1', '2'), table('never', 'never')], 'chrome')).toBe(false)
  expect(questionForms.wherever.reading(table('partial', '2'), 'chrome')).toBeNull()
})

it('answers how-many with the number and the versions in the order asked', () => {
  const question = { kind: 'how-many' as const, browser: 'chrome' as const, titles: ['a', 'b', 'c'] }
  expect(answerQuestion(question, [table('40', '1'), table('never', '1'), table('7', '1')])).toEqual(['2 40 7'])
  expect(answerQuestion(question, [table('never', '1'), table('never', '1'), table('never', '1')])).toEqual(['0'])
})
