import { describe, expect, it } from 'vitest'
import { scored, missing, trajectoryOf } from '../../test/support/trajectories.ts'
import { guardCounts, pair } from './judge.ts'

const episode = (task: string, reward = scored(1), sketch = {}) => ({
  trajectory: trajectoryOf({ id: `${task}-t`, task, ...sketch }),
  reward,
})

describe('guards', () => {
  it('count broken calls and episodes that the policy did not finish', () => {
    const malformedCalls = [
      { text: 'a', problem: '?' },
      { text: 'b', problem: '?' },
    ]
    const nodes = [{ id: 'n0', message: { role: 'assistant' as const, content: '', malformedCalls } }]
    expect(guardCounts(episode('x'))).toEqual({ brokenCalls: 0, unfinished: 0 })
    expect(guardCounts(episode('x', scored(0), { nodes, stopReason: 'turn-budget' }))).toEqual({
      brokenCalls: 2,
      unfinished: 1,
    })
    expect(guardCounts(episode('x', missing, { stopReason: 'environment-error' })).unfinished).toBe(0)
  })
})

describe('two arms side by side', () => {
  it('are paired by task, whatever their order, and missing evidence stays null', () => {
    const before = [episode('a', scored(0)), episode('b', missing)]
    const after = [episode('b', scored(1)), episode('a', scored(0.5))]
    expect(pair(before, after)).toMatchObject([
      { task: 'a', baseline: 0, candidate: 0.5 },
      { task: 'b', baseline: null, candidate: 1 },
    ])
  })

  it('must have attempted the same tasks', () => {
    expect(() => pair([episode('a')], [episode('b')])).toThrow("the candidate's episode on task a is missing")
  })
})
