import { expect, it } from 'vitest'
import { pairedGate } from '../../../gate/index.ts'
import { fewTasksFindings, winsNeeded } from './few-tasks.ts'
import { recipe } from './recipe.ts'

const gate = pairedGate(recipe.gate)

it('counts what a candidate has to win to be promoted', () => {
  expect([4, 5, 10, 100, 400].map((tasks) => winsNeeded(gate, tasks))).toEqual([null, 5, 5, 8, 15])
})

it('warns where that is more than a fifth of the held-out tasks', () => {
  const told = (tasks: number) => fewTasksFindings(gate, tasks).map(({ message }) => message)
  expect(told(30)).toEqual([])
  expect(told(10)).toEqual([
    '10 held-out tasks judge what is learned: a candidate is promoted only if it solves 5 or more that what serves fails, and more if it loses any.',
  ])
  expect(told(4)).toEqual(['4 held-out tasks judge what is learned: too few for any candidate to be promoted.'])
})

it('says nothing of a gate that asks for something else', () => {
  const other = pairedGate({ ...recipe.gate, guards: { tokens: { allowed: 1, range: [0, 4] } } })
  expect(fewTasksFindings(other, 4)).toEqual([])
})
