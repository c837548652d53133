import { expect, it } from 'vitest'
import { wordTask } from '../../../test/support/word-environment.ts'
import type { HoldoutTask, LearnableTask, Task } from '../../core/index.ts'
import { heldOutFindings } from './held-out-findings.ts'
import type { WrittenDemonstration } from './written-demonstration.ts'

const train = [wordTask('t0', 'plum')] as LearnableTask[]
const validation = [wordTask('v0', 'fig', 'validation')] as Task<'validation'>[]
const holdout = [wordTask('h0', 'lime', 'holdout')] as HoldoutTask[]
const about = (content: string, task?: Task): WrittenDemonstration => ({
  messages: [{ role: 'user', content }],
  ...(task && { task }),
})
const told = (...demonstrations: readonly WrittenDemonstration[]) =>
  heldOutFindings(demonstrations, { train, validation, holdout }).map(({ severity, n, of, example }) => [
    severity,
    n,
    of,
    example,
  ])

it('finds demonstrations of tasks that judge, by the task that they name or by what is asked', () => {
  const [asked, judged] = [train[0]?.instruction ?? '', holdout[0]?.instruction ?? '']
  expect(told(about(asked), about(judged), about('Something else.'))).toEqual([
    ['stop', 1, 3, `demonstration 2, "${judged}", is a holdout task`],
  ])
  expect(told(about('Whatever.', validation[0]))).toEqual([
    ['stop', 1, 1, 'demonstration 1, "Whatever.", is a validation task'],
  ])
})

it('finds none where a training task asks the same', () => {
  const same = { ...validation[0]!, instruction: train[0]!.instruction }
  const demonstrations = [about(train[0]!.instruction)]
  expect(heldOutFindings(demonstrations, { train, validation: [same], holdout })).toEqual([])
})
