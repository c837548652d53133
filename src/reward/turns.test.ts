import { expect, it } from 'vitest'
import { trajectoryOf } from '../../test/support/trajectories.ts'
import { NodeId, Trajectory } from '../core/index.ts'
import { upTo } from './turns.ts'

it('a trajectory as it stood at a moment refers to nothing that came later', () => {
  const nodes = ['a', 'b', 'c'].map((id) => ({ id }))
  const decisions = [
    { output: 'a' },
    { output: 'b', inputs: [{ decision: 'd0' }] },
    { output: 'c', inputs: ['b', { decision: 'd1' }] },
  ]
  const sketch = trajectoryOf({ nodes, decisions })
  const whole = Trajectory.parse({
    ...sketch,
    nodes: sketch.nodes.map((node, i) => ({ ...node, at: i })),
    decisions: sketch.decisions.map((decision, step) => ({ ...decision, step })),
    steps: sketch.nodes.map(({ id }, index) => ({ index, action: id, observations: [], decisions: [`d${index}`] })),
    outcome: { inputs: [NodeId.parse('c')] },
  })
  const early = upTo(whole, 1)
  expect(Trajectory.parse(early)).toEqual(early)
  expect(early.decisions.map(({ inputs }) => inputs)).toEqual([[], [{ decision: 'd0' }]])
  expect(early.outcome).toBeUndefined()
  expect(upTo(whole, 2)).toBe(whole)
})
