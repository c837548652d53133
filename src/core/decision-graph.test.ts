import { describe, expect, it } from 'vitest'
import { trajectoryOf } from '../../test/support/trajectories.ts'
import { Input } from './decision.ts'
import { upstreamOf } from './decision-graph.ts'
import { NodeId } from './id.ts'

describe('what something was built from', () => {
  // Two branches from one prefix, p → a and p → b; c read what b said and a text that has no node; t and lone are read by no one.
  const trajectory = trajectoryOf({
    nodes: [{ id: 'p' }, { id: 'a', parent: 'p' }, { id: 'b', parent: 'p' }, { id: 'c' }, { id: 'lone' }],
    decisions: [
      { output: 'p' },
      { inputs: ['p'], output: 'a' },
      { inputs: ['p'], output: 'b' },
      {},
      { inputs: [{ decision: 'd2' }, { decision: 'd3' }], output: 'c' },
      { output: 'lone' },
    ],
  })
  const upstream = (...inputs: unknown[]) =>
    [
      ...upstreamOf(
        inputs.map((input) => Input.parse(input)),
        trajectory,
      ),
    ].toSorted()

  it('is what it names, what made what it read, and so on back', () => {
    expect(upstream('a')).toEqual(['d0', 'd1'])
    expect(upstream('c')).toEqual(['d0', 'd2', 'd3', 'd4'])
    expect(upstream('a', { decision: 'd4' })).toEqual(['d0', 'd1', 'd2', 'd3', 'd4'])
    expect(upstream()).toEqual([])
  })

  it('of a long conversation takes no stack', () => {
    const turns = 20_000
    const nodes = Array.from({ length: turns }, (_, i) => ({ id: `n${i}`, ...(i > 0 ? { parent: `n${i - 1}` } : {}) }))
    const decisions = nodes.map(({ id, parent }) => ({ output: id, inputs: parent === undefined ? [] : [parent] }))
    const long = trajectoryOf({ nodes, decisions })
    expect(upstreamOf([NodeId.parse(`n${turns - 1}`)], long).size).toBe(turns)
  })
})
