import { describe, expect, it } from 'vitest'
import { advantagesIn, groupOf, type StepSketch } from '../../../test/support/episodes.ts'
import { creditContext, missing, scored, vetoed } from '../../../test/support/trajectories.ts'
import { Message, type StepJudge, type StepLabel } from '../../core/index.ts'
import { downstream, grpo, leaveOneOut } from '../index.ts'
import { adca, toolErrorLabels } from './index.ts'

const [one, two, three] = [[{}], [{}, {}], [{}, {}, {}]]
const saying = (labels: Readonly<Record<string, readonly (StepLabel | null)[] | null>>): StepJudge => ({
  name: 'test',
  label: ({ id }) => labels[id] ?? null,
})

describe('ADCA, by hand', () => {
  const group = groupOf([
    [two, scored(1)],
    [one, scored(0)],
  ])
  const labels = saying({ t0: ['good', 'bad'], t1: ['bad'] })
  /*
   * r̂: 0.2, −0.2 and −0.2. Means of attempts 0 and −0.2: μ = −0.1. Squares 0.09, 0.01 → mean 0.05, and 0.01: σ² = 0.03.
   * r_attr: 0.3/√0.03 = √3, −0.1/√0.03 = −1/√3, −1/√3. Sums to the end: √3 − 1/√3 = 2/√3, −1/√3; −1/√3. GRPO: ±1.
   */
  const root = Math.sqrt(3)

  it('adds the labels, normalised and summed to the end, to the outcome', async () => {
    const estimator = adca({ outcome: grpo({ epsilon: 0 }), labels, epsilon: 0 })
    const [first, second] = await advantagesIn(estimator, [group])
    expect(first?.[0]).toBeCloseTo(1 + 0.2 / root, 12)
    expect(first?.[1]).toBeCloseTo(1 - 0.1 / root, 12)
    expect(second?.[0]).toBeCloseTo(-1 - 0.1 / root, 12)
  })

  it('with the weight it is given, over any outcome', async () => {
    const estimator = adca({ outcome: leaveOneOut(), labels, epsilon: 0, attribution: 0.5 })
    expect(estimator.name).toBe('adca(leave-one-out)')
    expect((await advantagesIn(estimator, [group]))[0]?.[0]).toBeCloseTo(1 + 1 / root, 12)
    expect(await advantagesIn(adca({ labels, attribution: 0 }), [group])).toEqual(await advantagesIn(grpo(), [group]))
  })

  it('takes the context’s judge, and says so where there is none', async () => {
    const own = await advantagesIn(adca(), [group], { ...creditContext, stepJudge: labels })
    expect(own).toEqual(await advantagesIn(adca({ labels }), [group]))
    await expect(adca().credit([group], creditContext)).rejects.toMatchObject({ code: 'credit/no-step-labels' })
  })

  it('tells the judge what was earned', async () => {
    const asked: unknown[] = []
    const judge: StepJudge = { name: 'test', label: ({ id }, reward) => (asked.push([id, reward.value]), null) }
    await adca({ labels: judge }).credit([group], creditContext)
    expect(asked).toEqual([
      ['t0', 1],
      ['t1', 0],
    ])
  })

  it('where nobody says anything, the outcome alone, and counted', async () => {
    const silent = adca({ labels: saying({ t0: [null, 'good'] }) })
    const found = await advantagesIn(silent, [group])
    expect(found[1]).toEqual((await advantagesIn(grpo(), [group]))[1])
    // A single label is the mean: it says nothing either.
    expect(found[0]?.[1]).toBeCloseTo(1, 5)
    expect((await silent.credit([group], creditContext)).counts).toMatchObject({ unlabelledSteps: 2, missing: 0 })
  })

  it('credits by labels alone where all earned the same, and an attempt alone', async () => {
    const equal = groupOf([
      [two, scored(1)],
      [one, scored(1)],
    ])
    const { credits, counts } = await adca({ labels, epsilon: 0 }).credit([equal], creditContext)
    expect(counts.uniformGroups).toBe(1)
    expect(credits.map(({ advantage }) => advantage?.toFixed(9))).toEqual(
      [0.2 / root, -0.1 / root, -0.1 / root].map((a) => a.toFixed(9)),
    )
    const alone = await advantagesIn(adca({ labels, epsilon: 0 }), [groupOf([[two, scored(1)]])])
    // Labels 1 and −1 in deviations: 0.1·(1 − 1), 0.1·(−1).
    expect(alone[0]?.[1]).toBeCloseTo(-0.1, 12)
  })

  it('leaves out what is missing, from means as well', async () => {
    const more = groupOf([
      [two, scored(1)],
      [one, scored(0)],
      [three, missing],
    ])
    const labelled = saying({ t0: ['good', 'bad'], t1: ['bad'], t2: ['good', 'good', 'good'] })
    const found = await advantagesIn(adca({ labels: labelled }), [more])
    expect(found.slice(0, 2)).toEqual(await advantagesIn(adca({ labels }), [group]))
    expect(found[2]).toEqual([undefined, undefined, undefined])
  })

  it('praises nothing of a gamed attempt, however good the judge finds it (invariant 5)', async () => {
    const gamed = groupOf([
      [two, vetoed(0)],
      [one, scored(0)],
    ])
    const praising = adca({ labels: saying({ t0: ['good', 'good'], t1: ['bad'] }), attribution: 10 })
    expect((await advantagesIn(praising, [gamed]))[0]).toEqual([0, 0])
  })

  it('adds nothing to a Decision that the outcome was not built from', async () => {
    const [first, ...others] = group.attempts
    const used = { ...first!.trajectory, outcome: { inputs: [{ decision: first!.trajectory.decisions[0]!.id }] } }
    const linked = { ...group, attempts: [{ ...first!, trajectory: used }, ...others] }
    const found = await advantagesIn(adca({ labels, outcome: downstream({ outcome: grpo() }) }), [linked])
    expect(found[0]?.[0]).toBeGreaterThan(1)
    expect(found[0]?.[1]).toBeUndefined()
  })

  it('refuses labels that fit no Steps', async () => {
    const wrong = adca({ labels: saying({ t0: ['good'] }) })
    await expect(wrong.credit([group], creditContext)).rejects.toMatchObject({ code: 'credit/bad-labels' })
  })
})

describe('labels by tool errors', () => {
  const labelsOf = (steps: readonly StepSketch[], reward = scored(1)) => {
    const { trajectory } = groupOf([[steps, reward]]).attempts[0]!
    return toolErrorLabels().label(trajectory, reward)
  }

  it('errors are bad, the rest good where something was earned, and not told where not', () => {
    const steps = [{}, { failed: true }, {}]
    expect(labelsOf(steps)).toEqual(['good', 'bad', 'good'])
    expect(labelsOf(steps, scored(0))).toEqual([null, 'bad', null])
    expect(labelsOf(steps, vetoed(1))).toEqual([null, 'bad', null])
  })

  it('calls that could not be read are bad, and what the policy did not end is not judged', () => {
    const { trajectory } = groupOf([[[{}, {}], scored(1)]]).attempts[0]!
    const broken = Message.parse({ role: 'assistant', content: '', malformedCalls: [{ text: '{', problem: 'no end' }] })
    const nodes = trajectory.nodes.map((node) => (node.id === 'a0' ? { ...node, message: broken } : node))
    expect(toolErrorLabels().label({ ...trajectory, nodes }, scored(1))).toEqual(['bad', 'good'])
    expect(toolErrorLabels().label({ ...trajectory, stopReason: 'environment-error' }, scored(1))).toBeNull()
  })
})
