import { expect, it } from 'vitest'
import { trajectoryOf } from '../../test/support/trajectories.ts'
import { NodeId, Trajectory } from '../core/index.ts'
import { perToolCall } from './evidence/per-tool-call.ts'
import { ownTurns, upTo } from './turns.ts'

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

it('a turn that a folded context repeats was said once', () => {
  const message = { role: 'assistant' as const, content: '', toolCalls: [{ name: 'look', arguments: {} }] }
  const sketch = trajectoryOf({
    nodes: [
      { id: 'said', message },
      { id: 'again', message },
    ],
    decisions: [],
  })
  const steps = [{ index: 0, action: NodeId.parse('said'), observations: [], decisions: [] }]
  const trajectory = { ...sketch, steps }
  expect(ownTurns(trajectory).map(({ node }) => node.id)).toEqual(['said'])
  expect(perToolCall(-0.1).score(trajectory, [], 0)).toBe(-0.1)
})
