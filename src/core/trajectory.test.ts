import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodedSpan, sampledSpan, trajectoryOf } from '../../test/support/trajectories.ts'
import { branches, causedByPolicy, sampledTokens, StopReason, Trajectory } from './trajectory.ts'

const ids = (trajectory: Pick<Trajectory, 'nodes'>) => branches(trajectory).map((path) => path.map(({ id }) => id))

describe('Trajectory', () => {
  const whole = trajectoryOf({
    nodes: [{ id: 'n0' }, { id: 'n1', parent: 'n0', spans: [sampledSpan([1])] }],
    decisions: [{ inputs: ['n0'], output: 'n1' }],
  })

  it('reads what it wrote', () => {
    expect(Trajectory.parse(JSON.parse(JSON.stringify(whole)))).toEqual(whole)
  })

  const step = { index: 0, action: 'n1', observations: [], decisions: ['d0'] }
  it('reads steps that refer to what is there', () => {
    expect(Trajectory.safeParse({ ...whole, steps: [step] }).success).toBe(true)
  })

  it.each([
    ['two nodes of one name', trajectoryOf({ nodes: [{ id: 'n0' }, { id: 'n0' }] }), 'two nodes'],
    ['a parent that is not there', trajectoryOf({ nodes: [{ id: 'n0', parent: 'n9' }] }), 'before its parent'],
    [
      'a cycle',
      trajectoryOf({
        nodes: [
          { id: 'n0', parent: 'n1' },
          { id: 'n1', parent: 'n0' },
          { id: 'n2', parent: 'n1' },
        ],
      }),
      'before its parent',
    ],
    ['a decision that left no such node', trajectoryOf({ decisions: [{ output: 'n9' }] }), 'refers to "n9"'],
    ['a decision that read no such decision', trajectoryOf({ decisions: [{ inputs: [{ decision: 'd9' }] }] }), '"d9"'],
    [
      'a decision that read itself',
      trajectoryOf({ decisions: [{ inputs: [{ decision: 'd0' }] }] }),
      'no earlier decision',
    ],
    ['a decision that read a later one', trajectoryOf({ decisions: [{ inputs: [{ decision: 'd1' }] }, {}] }), '"d1"'],
    ['an outcome of what is not there', { ...trajectoryOf(), outcome: { inputs: ['n9'] } }, 'the outcome refers to'],
    ['a decision that read no such node', trajectoryOf({ decisions: [{ inputs: ['n9'] }] }), 'refers to "n9"'],
    ['a step out of order', { ...whole, steps: [{ ...step, index: 1 }] }, 'numbered 1'],
    ['a step without its action', { ...whole, steps: [{ ...step, action: 'n9' }] }, 'refers to "n9"'],
    ['a step without its decision', { ...whole, steps: [{ ...step, decisions: ['d9'] }] }, 'refers to "d9"'],
  ])('refuses %s', (_, trajectory, problem) => {
    expect(Trajectory.safeParse(trajectory).error?.issues[0]?.message).toContain(problem)
  })

  it('refuses an unknown stop reason and unknown keys', () => {
    expect(Trajectory.safeParse({ ...whole, stopReason: 'bored' }).success).toBe(false)
    expect(Trajectory.safeParse({ ...whole, reward: 1 }).success).toBe(false)
  })
})

describe('branches', () => {
  it('lists the paths to the leaves, in the order of the leaves', () => {
    const nodes = [
      { id: 'a' },
      { id: 'b', parent: 'a' },
      { id: 'c', parent: 'a' },
      { id: 'd', parent: 'b' },
      { id: 'lone' },
    ]
    expect(ids(trajectoryOf({ nodes }))).toEqual([['a', 'c'], ['a', 'b', 'd'], ['lone']])
  })

  it('covers every node, and ends each path at a node that nothing follows', () => {
    const trees = fc
      .array(fc.nat(), { minLength: 1, maxLength: 30 })
      .map((picks) => picks.map((pick, i) => (i === 0 ? { id: 'n0' } : { id: `n${i}`, parent: `n${pick % i}` })))
    fc.assert(
      fc.property(trees, (nodes) => {
        const paths = ids(trajectoryOf({ nodes }))
        expect(new Set(paths.flat())).toEqual(new Set(nodes.map(({ id }) => id)))
        expect(new Set(paths.map((path) => path.at(-1))).size).toBe(paths.length)
        for (const path of paths) expect(path[0]).toBe('n0')
      }),
    )
  })
})

it('counts sampled tokens only', () => {
  const nodes = [{ id: 'a', spans: [encodedSpan([1, 2, 3]), sampledSpan([4, 5])] }]
  expect(sampledTokens(trajectoryOf({ nodes }))).toBe(2)
})

it('blames the policy for what it spent or broke, and for nothing else', () => {
  expect(StopReason.options.filter(causedByPolicy)).toEqual([
    'done',
    'malformed-call',
    'tool-errors',
    'turn-budget',
    'token-budget',
    'time-budget',
    'context-length',
  ])
})
