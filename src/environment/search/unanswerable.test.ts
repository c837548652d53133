import { expect, it } from 'vitest'
import { Task } from '../../core/index.ts'
import { Corpus } from './corpus.ts'
import { unanswerable } from './unanswerable.ts'

const corpus = new Corpus([
  { id: 'a', title: 'Lemon', lines: ['The lemon is  YELLOW.', 'It is grown in Amalfi and in Sorrento.'] },
  { id: 'b', title: 'Tower', lines: ['東京タワーは赤い。', 'Ratcheting is a movement in one direction.'] },
])
const task = (id: string, accepted: readonly string[], instruction = 'What is it?'): Task =>
  Task.parse({ id, instruction, data: { accepted }, split: 'train' })
const lost = (...tasks: Task[]) => unanswerable(tasks, corpus).map(({ task }) => task.id)

it.each([
  ['a word of a line, whatever its case', 'Yellow'],
  ['a title', 'lemon'],
  ['words of several lines', 'yellow, in Sorrento'],
  ['a stem', 'ratchet'],
  ['words of a script without spaces', '赤い'],
  ['a small number, which may be counted', '17'],
  ['a verdict', 'No'],
])('%s can be found', (_, answer) => expect(lost(task('t', [answer]))).toEqual([]))

it('finds answers that no document holds, and names them', () => {
  expect(unanswerable([task('t', ['cobalt', 'deep blue'])], corpus)).toMatchObject([
    { task: { id: 't' }, answer: 'cobalt' },
  ])
  expect(lost(task('t', ['yellow cobalt']))).toEqual(['t'])
  expect(unanswerable([task('t', ['240 yellow'])], corpus)).toMatchObject([{ answer: '240 yellow', workedOut: true }])
  expect(lost(task('t', ['el']))).toEqual(['t'])
})

it('asks for one of the accepted answers only, and not for words of the question', () => {
  expect(lost(task('t', ['cobalt', 'yellow']))).toEqual([])
  expect(lost(task('t', ['cobalt'], 'Is it cobalt or jade?'))).toEqual([])
})

it('takes an answer of many tasks for a label', () => {
  const labelled = ['p', 'q', 'r'].map((id) => task(id, ['Positive']))
  expect(lost(...labelled)).toEqual([])
  expect(lost(...labelled.slice(1))).toEqual(['q', 'r'])
})
