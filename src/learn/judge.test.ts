import { describe, expect, it } from 'vitest'
import { scored, missing, trajectoryOf } from '../../test/support/trajectories.ts'
import { NodeId } from '../core/index.ts'
import { guardCounts, resultsOf } from './judge.ts'

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
    const said = { role: 'assistant' as const, content: '', malformedCalls }
    const { trajectory, reward } = episode('x', scored(0), {
      nodes: [
        { id: 'n0', message: said },
        // A folded context shows the same turn again.
        { id: 'n1', message: said },
      ],
      stopReason: 'turn-budget',
    })
    const steps = [{ index: 0, action: NodeId.parse('n0'), observations: [], decisions: [] }]
    expect(guardCounts(episode('x'))).toEqual({ brokenCalls: 0, unfinished: 0 })
    expect(guardCounts({ trajectory: { ...trajectory, steps }, reward })).toEqual({ brokenCalls: 2, unfinished: 1 })
    expect(guardCounts(episode('x', missing, { stopReason: 'environment-error' })).unfinished).toBe(0)
  })
})

it('an arm’s results are by task, and missing evidence stays null', () => {
  const results = resultsOf([episode('a', scored(0.5)), episode('b', missing)])
  expect([...results]).toEqual([
    ['a', { score: 0.5, guards: { brokenCalls: 0, unfinished: 0 } }],
    ['b', { score: null, guards: { brokenCalls: 0, unfinished: 0 } }],
  ])
})
