import { expect, it } from 'vitest'
import { wordEnvironment, wordTask } from '../../test/support/word-environment.ts'
import { rollouts } from './source.ts'

const one = (split: 'train' | 'validation' | 'holdout', id: string = split) => wordTask(id, 'x', split)

it('keeps the splits apart', () => {
  const source = rollouts(wordEnvironment, [one('holdout'), one('train'), one('validation'), one('train', 'second')])
  expect(source.train.map(({ id }) => id)).toEqual(['train', 'second'])
  expect(source.validation.map(({ id }) => id)).toEqual(['validation'])
  expect(source.holdout.map(({ id }) => id)).toEqual(['holdout'])
})

it('refuses a task in two splits: it would leak the holdout', () => {
  const tasks = [one('train', 'same'), one('validation'), one('holdout', 'same')]
  expect(() => rollouts(wordEnvironment, tasks)).toThrow('Two tasks have the id "same".')
})

it.each(['train', 'validation', 'holdout'] as const)('refuses tasks without a %s split', (missing) => {
  const tasks = (['train', 'validation', 'holdout'] as const).filter((split) => split !== missing)
  const split = () =>
    rollouts(
      wordEnvironment,
      tasks.map((name) => one(name)),
    )
  expect(split).toThrow(`There are no ${missing} tasks.`)
})

it('refuses a run that no task of a trained tier could judge', () => {
  const tasks = [
    { ...one('train'), tier: 'easy' },
    { ...one('validation'), tier: 'easy' },
    { ...one('holdout'), tier: 'hard' },
  ]
  expect(() => rollouts(wordEnvironment, tasks)).toThrow('No holdout task is of a tier that is trained (easy).')
  expect(rollouts(wordEnvironment, [...tasks, { ...one('holdout', 'h'), tier: 'easy' }]).holdout).toHaveLength(2)
})
