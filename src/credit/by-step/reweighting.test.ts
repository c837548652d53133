import { describe, expect, it } from 'vitest'
import { advantagesIn, groupOf } from '../../../test/support/episodes.ts'
import { creditContext, missing, sampledSpan, scored, vetoed } from '../../../test/support/trajectories.ts'
import { CallId, type CreditEstimator, type Trajectory } from '../../core/index.ts'
import { batchZScore } from '../batch-z-score.ts'
import { downstream } from '../downstream.ts'
import { groupJudged } from '../group-judged.ts'
import { leaveOneOut } from '../leave-one-out.ts'
import { anchorStates, bounded, durationAware, hindsight, stepDurations } from './index.ts'

const at = (...states: readonly string[]) => states.map((shown) => ({ shown }))
const two = [{}, {}]

describe('anchor states, by hand', () => {
  // γ ½. t0, in hall then attic, earns 1: returns ½, 1. t1, in hall then cellar, earns 0: 0, 0.
  const group = groupOf([
    [at('hall', 'attic'), scored(1)],
    [at('hall', 'cellar'), scored(0)],
  ])

  it('add what Steps of one state say beside the outcome; one that is alone has the outcome’s', async () => {
    const estimator = anchorStates({ outcome: leaveOneOut(), discount: 0.5, scale: 'none', weight: 2 })
    expect(await advantagesIn(estimator, [group])).toEqual([
      [1 + 2 * 0.25, 1],
      [-1 - 2 * 0.25, -1],
    ])
    expect((await estimator.credit([group], creditContext)).counts.loneSteps).toBe(2)
  })

  it('in standard deviations of the state', async () => {
    const estimator = anchorStates({ outcome: leaveOneOut(), discount: 0.5, epsilon: 0 })
    expect(await advantagesIn(estimator, [group])).toEqual([
      [1 + 1, 1],
      [-1 - 1, -1],
    ])
  })

  it('counts a state that an attempt comes back to: what went in a circle was worth less before', async () => {
    // γ ½, outcome 1: returns ¼, ½, 1; in hall ¼ and 1, mean 0.625.
    const circle = groupOf([[at('hall', 'attic', 'hall'), scored(1)]])
    const estimator = anchorStates({ outcome: leaveOneOut(), discount: 0.5, scale: 'none' })
    expect(await advantagesIn(estimator, [circle])).toEqual([[-0.375, undefined, 0.375]])
  })

  it('takes states as it is told, and none for what is like no other', async () => {
    const estimator = anchorStates({ outcome: leaveOneOut(), discount: 1, scale: 'none', state: () => [null, 'last'] })
    expect(await advantagesIn(estimator, [group])).toEqual([
      [1, 1.5],
      [-1, -1.5],
    ])
  })

  it('compares within a group only', async () => {
    const twin = groupOf([[at('hall'), scored(5)]], 'other')
    const renamed = {
      ...twin,
      attempts: twin.attempts.map((each) => ({
        ...each,
        trajectory: { ...each.trajectory, id: group.attempts[1]!.trajectory.id },
      })),
    }
    const first = await advantagesIn(anchorStates(), [{ ...group, attempts: group.attempts.slice(0, 1) }, renamed])
    expect(first.flat().every((advantage) => advantage === undefined)).toBe(true)
  })
})

/** Says of Decisions what it is told. */
const saying = (said: Readonly<Record<string, readonly number[]>>): CreditEstimator => ({
  name: 'said',
  credit: async (groups) => ({
    credits: groups
      .flatMap(({ attempts }) => attempts)
      .flatMap(({ trajectory: { id, decisions } }) =>
        decisions.flatMap(({ id: decision }, i) => {
          const advantage = said[id]?.[i]
          return advantage === undefined ? [] : [{ trajectory: id, decision, advantage }]
        }),
      ),
    counts: { missing: 0, uniformGroups: 0, singletonGroups: 0, vetoed: 0 },
  }),
})

describe('bounded re-weighting, by hand', () => {
  const group = groupOf([
    [two, scored(1)],
    [two, scored(0)],
  ])

  it('gives good Decisions more praise and less blame, within the band', async () => {
    // The most that is said is 4: opinions of 1, −½, ½ and nothing.
    const estimator = bounded({ outcome: leaveOneOut(), by: saying({ t0: [4, -2], t1: [2] }) })
    expect(await advantagesIn(estimator, [group])).toEqual([
      [1.25, 0.875],
      [-0.875, -1],
    ])
    expect((await estimator.credit([group], creditContext)).counts.unweighted).toBe(1)
  })

  it('leaves everything where nothing is said, and refuses a band that could turn signs', async () => {
    const silent = bounded({ outcome: leaveOneOut(), by: saying({ t0: [0, 0], t1: [0, 0] }) })
    expect(await advantagesIn(silent, [group])).toEqual(await advantagesIn(leaveOneOut(), [group]))
    // More than a call may have arguments.
    const { credits, counts } = await saying({ t0: [4, -2], t1: [2] }).credit([group], creditContext)
    const large: CreditEstimator = {
      name: 'large',
      credit: async () => ({ credits: Array.from({ length: 100_000 }, () => credits).flat(), counts }),
    }
    await expect(bounded({ outcome: leaveOneOut(), by: large }).credit([group], creditContext)).resolves.toBeDefined()
    expect(() => bounded({ outcome: leaveOneOut(), by: silent, band: 1 })).toThrow('band')
  })
})

describe('duration-aware weights, by hand', () => {
  const group = groupOf([
    [two, scored(1)],
    [two, scored(0)],
    [two, missing],
  ])

  it('are the time over the group’s mean, at most `most`, and 1 where it is not known', async () => {
    // 30, 6, 0 and nothing: mean 12. What is missing lasted long, and counts for nothing.
    const took: Readonly<Record<string, readonly (number | null)[]>> = { t0: [30, 6], t1: [0, null], t2: [900, 900] }
    const durations = ({ id }: Trajectory) => took[id] ?? []
    const estimator = durationAware({ outcome: leaveOneOut(), durations })
    const found = await advantagesIn(estimator, [group])
    expect(found[0]).toEqual([2.5, 0.5])
    expect(found[1]?.map((value) => (value ?? 0) + 0)).toEqual([0, -1])
    expect((await estimator.credit([group], creditContext)).counts.unweighted).toBe(1)
    const capped = durationAware({ outcome: leaveOneOut(), durations, most: 2 })
    expect((await advantagesIn(capped, [group]))[0]).toEqual([2, 0.5])
  })

  it('are refused where no rollout says when anything was', async () => {
    const estimator = durationAware({ outcome: leaveOneOut() })
    await expect(estimator.credit([group], creditContext)).rejects.toMatchObject({ code: 'credit/no-durations' })
    const timed = group.attempts.map(({ trajectory, reward }, i) => {
      const nodes = trajectory.nodes.map((node, at) => ({ ...node, at: at * (i + 1) * 100 }))
      return { trajectory: { ...trajectory, nodes }, reward }
    })
    // Each step of t0 takes 100 and each of t1 200: the mean is 150.
    expect((await advantagesIn(estimator, [{ ...group, attempts: timed }])).slice(0, 2)).toEqual([
      [100 / 150, 100 / 150],
      [-200 / 150, -200 / 150],
    ])
  })

  it('say that they read times, through whatever is made of them', () => {
    const timed = durationAware({ outcome: leaveOneOut() })
    expect(durationAware({ outcome: leaveOneOut(), durations: () => [] }).readsTimes).toBeUndefined()
    expect(leaveOneOut().readsTimes).toBeUndefined()
    const judge = { name: 'none', judge: () => Promise.resolve({ status: 'missing', reason: '' } as const) }
    for (const made of [
      timed,
      durationAware({ outcome: timed, durations: () => [] }),
      bounded({ outcome: timed, by: anchorStates() }),
      bounded({ outcome: leaveOneOut(), by: timed }),
      anchorStates({ outcome: timed }),
      batchZScore({ outcome: timed }),
      downstream({ outcome: timed }),
      groupJudged({ outcome: timed, judge }),
    ]) {
      expect(made.readsTimes, made.name).toBe(true)
    }
  })

  it('take no time that cannot be', async () => {
    const odd = durationAware({ outcome: leaveOneOut(), durations: () => [Number.NaN, -3] })
    expect(await advantagesIn(odd, [group])).toEqual(await advantagesIn(leaveOneOut(), [group]))
  })

  it('are read from when messages came, or from a gateway’s calls', () => {
    const { trajectory } = group.attempts[0]!
    expect(stepDurations(trajectory)).toEqual([null, null])
    const times: Readonly<Record<string, number>> = { a0: 100, o1: 350, a1: 400, o2: 900 }
    const nodes = trajectory.nodes.map((node) => ({
      ...node,
      ...(times[node.id] !== undefined && { at: times[node.id] }),
    }))
    expect(stepDurations({ ...trajectory, nodes })).toEqual([250, 500])
    const call = {
      id: 'c',
      choice: 0,
      model: 'm',
      upstream: 'u',
      servedModel: 'm',
      params: {},
      tools: null,
      finish: null,
      usage: null,
      upstreamId: null,
      firstTokenMs: null,
      retryOf: null,
    }
    const steps = trajectory.steps.map((step, i) => ({
      ...step,
      call: { ...call, id: CallId.parse('c'), startedAt: 1000 * i, totalMs: 400 },
    }))
    expect(stepDurations({ ...trajectory, steps })).toEqual([600, null])
  })
})

describe('hindsight, by hand', () => {
  const { attempts } = groupOf([
    [two, scored(0)],
    [two, vetoed(0)],
    [two, missing],
  ])
  const spoken = (trajectory: Trajectory): Trajectory => ({
    ...trajectory,
    nodes: trajectory.nodes.map((node) =>
      node.id.startsWith('a') ? { ...node, spans: [sampledSpan([5, 6], -1)] } : node,
    ),
    decisions: trajectory.decisions.map((decision, i) => ({ ...decision, output: trajectory.steps[i]!.action })),
  })
  const group = {
    ...groupOf([]),
    attempts: attempts.map(({ trajectory, reward }) => ({ trajectory: spoken(trajectory), reward })),
  }

  it('is how much likelier the hint makes what was said, a token, within bounds', async () => {
    const hinted = (_: Trajectory, { id }: { readonly id: string }) => (id === 'd0' ? [-0.5, -1] : [-9, -1])
    const estimator = hindsight({ hinted })
    // (½ + 0)/2, and (−8 + 0)/2 within −1; what was gamed is never praised, what is missing takes no part.
    expect(await advantagesIn(estimator, [group])).toEqual([
      [0.25, -1],
      [0, -1],
      [undefined, undefined],
    ])
    expect((await estimator.credit([group], creditContext)).counts).toEqual({
      missing: 1,
      uniformGroups: 0,
      singletonGroups: 0,
      vetoed: 1,
      unhinted: 0,
    })
  })

  it('counts what has no hint or sampled nothing, and refuses what fits no tokens', async () => {
    const silent = hindsight({ hinted: () => null })
    expect((await silent.credit([group], creditContext)).counts.unhinted).toBe(4)
    const plain = { ...group, attempts: attempts.slice(0, 1) }
    expect((await hindsight({ hinted: () => [0] }).credit([plain], creditContext)).counts.unhinted).toBe(2)
    await expect(hindsight({ hinted: () => [0] }).credit([group], creditContext)).rejects.toMatchObject({
      code: 'credit/bad-hint',
    })
  })
})
