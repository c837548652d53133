import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { branches, Trajectory, TrajectoryNode, type TrajectoryPart } from '../core/index.ts'
import { present } from '../errors/index.ts'
import { traffic } from './traffic.conformance.ts'
import { assembleTrajectory } from './trajectory-parts.ts'

/** A conversation tree as calls make it: each call goes on from an earlier call's answer, or from the start. */
interface PlannedCall {
  /** Which earlier call's answer it goes on from; `null` from the start. */
  readonly after: number | null
  readonly asks: number
  readonly answers: number
  /** Which of the nodes that earlier calls brought it brings again, as a gateway does that has not seen them. */
  readonly again: number
}

const plannedCalls = fc
  .array(fc.record({ after: fc.nat(), asks: fc.nat(3), answers: fc.integer({ min: 1, max: 3 }), again: fc.nat(4) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((calls) =>
    calls.map((call, i): PlannedCall => ({ ...call, after: call.after % (i + 1) === i ? null : call.after % (i + 1) })),
  )

/** The parts of such calls, and the nodes that they make together. */
function carriedOut(calls: readonly PlannedCall[]): {
  readonly parts: readonly TrajectoryPart[]
  readonly nodes: readonly TrajectoryNode[]
} {
  const nodes: TrajectoryNode[] = []
  const answers: TrajectoryNode[] = []
  const add = (id: string, parent: string | null, role: 'user' | 'assistant') => {
    const node = TrajectoryNode.parse({ id, parent, message: { role, content: `says ${id}` }, spans: [] })
    nodes.push(node)
    return node
  }
  const parts = calls.map(({ after, asks, answers: choices, again }, i) => {
    const path = pathTo(nodes, after === null ? null : present(answers[after], 'the answer').id)
    const asked = Array.from({ length: asks }, (_, j) => `c${i}.u${j}`)
    const own: TrajectoryNode[] = []
    for (const id of asked) own.push(add(id, own.at(-1)?.id ?? path.at(-1)?.id ?? null, 'user'))
    const parent = own.at(-1)?.id ?? path.at(-1)?.id ?? null
    const answered = Array.from({ length: choices }, (_, j) => add(`c${i}.a${j}`, parent, 'assistant'))
    answers.push(present(answered[0], 'the answer'))
    return traffic.part(`call-${i}`, {
      nodes: [...path.slice(path.length - Math.min(again, path.length)), ...own, ...answered],
      steps: answered.map(({ id }, index) => ({ index, action: id, observations: [], decisions: [`d${index}`] })),
      decisions: answered.map(({ id }, step) =>
        traffic.decision(`d${step}`, { step, output: id, inputs: [...path, ...own].map((node) => node.id) }),
      ),
      endedAt: 2_000 + i,
    })
  })
  return { parts, nodes }
}

function pathTo(nodes: readonly TrajectoryNode[], leaf: string | null): readonly TrajectoryNode[] {
  const path: TrajectoryNode[] = []
  for (let id = leaf; id !== null; ) {
    const node = present(
      nodes.find((one) => one.id === id),
      'the node',
    )
    path.unshift(node)
    id = node.parent
  }
  return path
}

/** What a trajectory says whatever the order of its nodes. */
function meaning(trajectory: Trajectory) {
  const text = (id: string) => trajectory.nodes.find((node) => node.id === id)?.message.content
  return {
    paths: branches(trajectory)
      .map((path) => path.map(({ id }) => id).join(' '))
      .toSorted(),
    decisions: trajectory.decisions
      .map(({ step, id, output, inputs }) => {
        const { action, decisions } = present(trajectory.steps[step], 'the step')
        return { id, output, inputs, action: text(action), listed: decisions.includes(id) }
      })
      .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

const shuffled = <T>(items: readonly T[]) =>
  fc.shuffledSubarray([...items], { minLength: items.length, maxLength: items.length })

describe('a trajectory of parts', () => {
  const head = traffic.head('t1')

  it('is the same however its calls bring what they share', () => {
    fc.assert(
      fc.property(plannedCalls, (calls) => {
        const { parts, nodes } = carriedOut(calls)
        const whole = assembleTrajectory(head, parts)
        expect(Trajectory.parse(whole)).toEqual(whole)
        expect(whole.nodes).toEqual(nodes)
        const frugal = carriedOut(calls.map((call) => ({ ...call, again: 0 })))
        expect(assembleTrajectory(head, frugal.parts)).toEqual(whole)
        expect(whole.steps).toHaveLength(calls.reduce((sum, { answers }) => sum + answers, 0))
        expect(whole.decisions.map(({ step }) => step)).toEqual(whole.steps.map(({ index }) => index))
      }),
    )
  })

  it('is the same tree in whatever order its calls are committed', () => {
    fc.assert(
      fc.property(
        plannedCalls.map(carriedOut).chain(({ parts }) => fc.tuple(fc.constant(parts), shuffled(parts))),
        ([parts, reordered]) => {
          const [one, other] = [parts, reordered].map((some) => assembleTrajectory(head, some))
          expect(Trajectory.parse(other)).toEqual(other)
          expect(meaning(present(other, 'it'))).toEqual(meaning(present(one, 'it')))
        },
      ),
    )
  })

  it('keeps no tokens whose prefix was lost', () => {
    const spans = [{ kind: 'encoded', tokens: [1, 2] }]
    const node = (id: string, parent: string | null) =>
      TrajectoryNode.parse({ id, parent, message: { role: 'user', content: id }, spans })
    const part = (call: string, nodes: readonly TrajectoryNode[]) =>
      traffic.part(call, { nodes: [...nodes], steps: [], decisions: [] })
    const parts = [part('c1', [node('b', 'a'), node('c', 'b')]), part('c2', [node('e', null), node('f', 'e')])]
    const kept = assembleTrajectory(head, parts).nodes.map(({ id, parent, spans: tokens }) => [
      id,
      parent,
      tokens.length,
    ])
    expect(kept).toEqual([
      ['b', null, 0],
      ['c', 'b', 0],
      ['e', null, 1],
      ['f', 'e', 1],
    ])
  })

  it('loses with a part what only that part brought', () => {
    fc.assert(
      fc.property(plannedCalls, fc.nat(), (calls, n) => {
        const { parts } = carriedOut(calls)
        fc.pre(parts.length > 1)
        const lost = n % parts.length
        const rest = parts.toSpliced(lost, 1)
        const whole = assembleTrajectory(head, rest)
        expect(Trajectory.parse(whole)).toEqual(whole)
        const brought = new Set(rest.flatMap(({ nodes }) => nodes.map(({ id }) => id)))
        expect(new Set(whole.nodes.map(({ id }) => id))).toEqual(brought)
        for (const { id, parent } of whole.nodes) {
          const given = rest.flatMap(({ nodes }) => nodes).find((node) => node.id === id)?.parent ?? null
          expect(parent).toBe(given !== null && brought.has(given) ? given : null)
        }
        expect(whole.decisions).toHaveLength(rest.reduce((sum, { decisions }) => sum + decisions.length, 0))
      }),
    )
  })

  it('holds together whatever the parts hold', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    const message = fc.record({ role: fc.constant('user'), content: fc.string({ maxLength: 3 }) })
    const node = fc.record({ id, parent: fc.option(id), message, spans: fc.constant([]) })
    const number = fc.nat(3)
    const step = fc.record({ index: number, action: id, observations: fc.array(id), decisions: fc.array(id) })
    const input = fc.oneof(id, fc.record({ decision: id }))
    const decision = fc
      .record({ id, step: number, output: fc.option(id), inputs: fc.array(input) })
      .map(({ id: name, ...rest }) => traffic.decision(name, rest))
    const several = { maxLength: 6 }
    const parts = fc
      .array(
        fc.record({
          nodes: fc.array(node, several),
          steps: fc.array(step, several),
          decisions: fc.array(decision, several),
          endedAt: fc.nat(),
        }),
        { minLength: 1, maxLength: 6 },
      )
      .map((some) => some.map((change, i) => traffic.part(`call-${i}`, change)))
    fc.assert(
      fc.property(parts, (some) => {
        const whole = assembleTrajectory(head, some)
        expect(Trajectory.parse(whole)).toEqual(whole)
        const brought = new Set(some.flatMap(({ nodes }) => nodes.map((one) => one.id)))
        expect(whole.nodes).toHaveLength(brought.size)
      }),
      { numRuns: 500 },
    )
  })

  it('keeps links to decisions of the same call, by their names in the trajectory', () => {
    const part = traffic.part('c1', {
      nodes: [{ id: 'n0', parent: null, message: { role: 'assistant', content: 'hi' }, spans: [] }],
      steps: [{ index: 0, action: 'n0', observations: [], decisions: ['d1', 'd0'] }],
      decisions: [
        traffic.decision('d1', { kind: 'text', parameter: 'tool-f' }),
        traffic.decision('d0', { inputs: [{ decision: 'd1' }, { decision: 'd9' }], output: 'n0' }),
      ],
    })
    expect(assembleTrajectory(head, [part]).decisions).toMatchObject([
      { id: 'c1/d1', inputs: [] },
      { id: 'c1/d0', inputs: [{ decision: 'c1/d1' }] },
    ])
  })

  it('keeps the first of two nodes of one name, and the first of two toolsets', () => {
    const first = traffic.part('c1', {
      nodes: [{ id: 'n0', parent: null, message: { role: 'user', content: 'first' }, spans: [], at: 5 }],
      toolsets: { one: [{ name: 'search', description: 'first', parameters: {} }] },
    })
    const second = traffic.part('c2', {
      nodes: [{ id: 'n0', parent: null, message: { role: 'user', content: '[redacted]' }, spans: [], at: 6 }],
      toolsets: { one: [], two: [] },
    })
    const whole = assembleTrajectory(head, [first, second])
    expect(whole.nodes).toEqual(first.nodes)
    expect(whole.toolsets).toEqual({ ...first.toolsets, two: [] })
  })

  it('counts a repeated request once, whichever of its answers was committed first', () => {
    const answered = (call: string, retryOf: string | null) =>
      traffic.part(call, {
        nodes: [
          { id: 'n0', parent: null, message: { role: 'user', content: 'Hello' }, spans: [] },
          { id: `${call}-a`, parent: 'n0', message: { role: 'assistant', content: call }, spans: [] },
        ],
        steps: [
          {
            index: 0,
            action: `${call}-a`,
            observations: [],
            decisions: ['d0'],
            call: traffic.modelCall(call, { retryOf }),
          },
        ],
        decisions: [traffic.decision('d0', { output: `${call}-a` })],
      })
    const [slow, retry, again] = [answered('slow', null), answered('retry', 'slow'), answered('again', 'retry')]
    for (const parts of [
      [slow, retry, again],
      [again, retry, slow],
    ]) {
      const whole = assembleTrajectory(head, parts)
      expect(Trajectory.parse(whole).decisions.map(({ output }) => output)).toEqual(['again-a'])
      expect(branches(whole)).toHaveLength(3)
      expect(whole.steps.map(({ decisions }) => decisions.length).toSorted((a, b) => a - b)).toEqual([0, 0, 1])
    }
    // A retry that brought no answer repeats nothing: the first answer counts.
    const nothing = traffic.part('retry', { stopReason: 'model-error' })
    expect(assembleTrajectory(head, [slow, nothing]).decisions).toHaveLength(1)
  })

  it('ends as its last part did, and lasts to the latest end', () => {
    const failure = { code: 'model/cut', message: 'The upstream went away.' }
    const parts = [
      traffic.part('c1', { endedAt: head.startedAt + 9_500 }),
      traffic.part('c2', { endedAt: head.startedAt + 4_000, stopReason: 'model-error', failure }),
    ]
    expect(assembleTrajectory(head, parts)).toMatchObject({ stopReason: 'model-error', failure, seconds: 9.5 })
    expect(assembleTrajectory(head, [traffic.part('c1', { endedAt: 1 })])).toMatchObject({ seconds: 0 })
    expect(assembleTrajectory(head, parts.toReversed())).toMatchObject({ stopReason: 'done', failure: null })
  })

  it('has decisions of their own names, however long those are', () => {
    const long = 'x'.repeat(256)
    const parts = ['1', '2'].map((n) =>
      traffic.part(`${n}${long.slice(1)}`, {
        nodes: [{ id: `n${n}`, parent: null, message: { role: 'assistant', content: n }, spans: [] }],
        steps: [{ index: 0, action: `n${n}`, observations: [], decisions: [long] }],
        decisions: [traffic.decision(long, { output: `n${n}` })],
      }),
    )
    expect(Trajectory.parse(assembleTrajectory(head, parts)).decisions).toHaveLength(2)
  })

  it('holds together at any depth', () => {
    const chain = Array.from({ length: 50_000 }, (_, i) =>
      TrajectoryNode.parse({
        id: `n${i}`,
        parent: i === 0 ? null : `n${i - 1}`,
        message: { role: 'user', content: '' },
        spans: [],
      }),
    )
    const whole = assembleTrajectory(head, [traffic.part('c1', { nodes: chain.toReversed() })])
    expect(whole.nodes).toEqual(chain)
  })
})
