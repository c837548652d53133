import { describe, expect, it } from 'vitest'
import { attemptsOf, missing, scored } from '../../../test/support/trajectories.ts'
import { type LearnableTask, type Reward, TaskId } from '../../core/index.ts'
import { affordable } from './budget.ts'
import { type Earned, meanOf, pairedGain, Scores } from './scores.ts'

const taskOf = (id: string): LearnableTask => ({ id: TaskId.parse(id), instruction: id, data: null, split: 'train' })
const tasks = ['a', 'b', 'c'].map(taskOf)
const earned = (values: Readonly<Record<string, number | null>>): Earned =>
  new Map(Object.entries(values).map(([id, value]) => [TaskId.parse(id), value]))

/** Attempts that earn what `reward` says; `asked` is what was attempted. */
function evaluating(reward: (text: string, task: string) => Reward | null) {
  const asked: string[] = []
  const evaluate = async ({ text }: { readonly text: string }, some: readonly LearnableTask[]) =>
    some.flatMap(({ id }) => {
      asked.push(`${text}/${id}`)
      const given = reward(text, id)
      return given === null ? [] : attemptsOf([given], { task: id })
    })
  return { asked, evaluate }
}

describe('scores', () => {
  it('attempt nothing twice, not after a restart either, and count what was spent', async () => {
    const { asked, evaluate } = evaluating((_, task) => (task === 'b' ? missing : scored(1)))
    const scores = new Scores(evaluate, 10)
    expect((await scores.of('x', tasks.slice(0, 2))).earned).toEqual(earned({ a: 1, b: null }))
    expect(scores.cost('x', tasks)).toBe(1)
    const again = new Scores(evaluate, 10, JSON.parse(JSON.stringify(scores.save())))
    const { earned: all, fresh } = await again.of('x', tasks)
    expect(all).toEqual(earned({ a: 1, b: null, c: 1 }))
    expect(fresh).toHaveLength(1)
    expect(asked).toEqual(['x/a', 'x/b', 'x/c'])
    expect([again.spent, again.affordsMore(7), again.affordsMore(8)]).toEqual([3, true, false])
  })

  it('know a text by its exact bytes', async () => {
    const scores = new Scores(evaluating(() => scored(1)).evaluate, 10)
    await scores.of('x', tasks)
    expect([scores.knows('x'), scores.knows('x '), scores.knows('X')]).toEqual([true, false, false])
  })

  it('pay for an attempt that left nothing, as missing evidence', async () => {
    const scores = new Scores(evaluating(() => null).evaluate, 10)
    expect((await scores.of('x', tasks.slice(0, 1))).earned).toEqual(earned({ a: null }))
    expect(scores.spent).toBe(1)
  })
})

describe('a gain', () => {
  it('is of pairs, and the worst stands for evidence that only the new text lacks', () => {
    expect(pairedGain(earned({ a: 0, b: 1 }), earned({ a: 1, b: 1 }))).toBe(0.5)
    expect(pairedGain(earned({ a: 0, b: 1 }), earned({ a: 1, b: null }))).toBe(0)
    expect(pairedGain(earned({ a: null, b: 0.5 }), earned({ a: 1, b: 0.75 }))).toBe(0.25)
    expect(pairedGain(earned({ a: null }), earned({ a: 1 }))).toBeNull()
    expect(meanOf(earned({ a: 1, b: null }))).toBe(1)
    expect(meanOf(earned({ b: null }))).toBeNull()
  })
})

it('a budget says how many proposals it affords, and what is needed at least', () => {
  expect(affordable(102, { start: 24, proposal: 26 })).toBe(3)
  expect(() => affordable(101, { start: 24, proposal: 26 })).toThrow(
    expect.objectContaining({ code: 'text/small-budget', hint: expect.stringContaining('102') }),
  )
})
