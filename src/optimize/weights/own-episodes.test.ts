import { describe, expect, it } from 'vitest'
import { encodedSpan, missing, sampledSpan, scored, trajectoryOf, vetoed } from '../../../test/support/trajectories.ts'
import { type Group, GroupId, NodeId, type Reward, type StepJudge, type StopReason } from '../../core/index.ts'
import { markedSteps } from './marked-steps.ts'
import { imitable, saidAll } from './own-episodes.ts'
import { selfImitation } from './self-imitation.ts'

describe('an episode is imitated', () => {
  it('in what the policy sampled, and the rest is context', () => {
    const nodes = [
      { id: 'n0', spans: [encodedSpan([1, 2])] },
      { id: 'n1', parent: 'n0', spans: [sampledSpan([3]), encodedSpan([4])] },
      { id: 'n2', parent: 'n1', spans: [encodedSpan([5]), sampledSpan([6, 7])] },
    ]
    expect(imitable(trajectoryOf({ nodes }))).toEqual([
      { tokens: [1, 2, 3, 4, 5, 6, 7], learn: [false, false, true, false, false, true, true] },
    ])
  })

  it('in what the policy was made to say, too', () => {
    const nodes = [
      { id: 'n0', spans: [encodedSpan([1])] },
      { id: 'n1', parent: 'n0', spans: [encodedSpan([2]), { ...encodedSpan([3]), forced: true as const }] },
      { id: 'n2', parent: 'n1', spans: [sampledSpan([4])] },
    ]
    expect(imitable(trajectoryOf({ nodes }))).toEqual([{ tokens: [1, 2, 3, 4], learn: [false, false, true, true] }])
  })

  it('each token once, whatever branches share it', () => {
    const nodes = [
      { id: 'n0', spans: [sampledSpan([1])] },
      { id: 'n1', parent: 'n0', spans: [sampledSpan([2])] },
      { id: 'n2', parent: 'n0', spans: [sampledSpan([3])] },
    ]
    expect(imitable(trajectoryOf({ nodes }))).toEqual([
      { tokens: [1, 2], learn: [true, true] },
      { tokens: [1, 3], learn: [false, true] },
    ])
  })

  it('without what is called a mistake, which stays as context', () => {
    const nodes = [
      { id: 'n0', spans: [encodedSpan([1]), sampledSpan([2])] },
      { id: 'n1', parent: 'n0', spans: [encodedSpan([3]), sampledSpan([4])] },
    ]
    expect(imitable(trajectoryOf({ nodes }), { mistakes: new Set([NodeId.parse('n0')]) })).toEqual([
      { tokens: [1, 2, 3, 4], learn: [false, false, false, true] },
    ])
  })
})

/** Two turns of one token each, and what the episode earned. */
const attempt = (reward: Reward, id = 't0', stopReason: StopReason = 'done') => {
  const nodes = [
    { id: 'n0', spans: [encodedSpan([1])] },
    { id: 'n1', parent: 'n0', spans: [sampledSpan([2])] },
    { id: 'n2', parent: 'n1', spans: [encodedSpan([3]), sampledSpan([4])] },
  ]
  const trajectory = trajectoryOf({ id, nodes, stopReason })
  const step = (index: number, action: string) => ({
    index,
    action: NodeId.parse(action),
    observations: [],
    decisions: [],
  })
  return { trajectory: { ...trajectory, steps: [step(0, 'n1'), step(1, 'n2')] }, reward }
}

describe('an episode in which several weights spoke', () => {
  const nodes = [
    { id: 'n0', spans: [sampledSpan([1])] },
    { id: 'n1', parent: 'n0', spans: [sampledSpan([2])] },
    { id: 'n2', spans: [sampledSpan([3])] },
  ]
  const decisions = [
    { parameter: 'searcher', output: 'n0' },
    { parameter: 'answerer', output: 'n1' },
    { parameter: 'answerer', output: 'n2' },
  ]
  const trajectory = trajectoryOf({ nodes, decisions })

  it('is imitated by each in what it said itself, and not at all where it said nothing', () => {
    expect(imitable(trajectory, { parameter: 'searcher' })).toEqual([{ tokens: [1, 2], learn: [true, false] }])
    expect(imitable(trajectory, { parameter: 'answerer' })).toEqual([
      { tokens: [1, 2], learn: [false, true] },
      { tokens: [3], learn: [true] },
    ])
    expect(imitable(trajectory, { parameter: 'judge' })).toEqual([])
  })

  it('is told of other things only by who said all of it', () => {
    expect(saidAll(trajectory, 'answerer')).toBe(false)
    expect(saidAll(trajectoryOf({ nodes, decisions: nodes.map(({ id }) => ({ output: id })) }), 'model')).toBe(true)
  })

  it('is nobody’s where a program acted by itself', () => {
    expect(saidAll(trajectoryOf({ nodes: [{ id: 'n0', spans: [] }] }), 'model')).toBe(false)
  })
})

describe('marked steps', () => {
  const judge = (labels: Awaited<ReturnType<StepJudge['label']>>): StepJudge => ({ name: 'test', label: () => labels })
  const learned = async (labels: Parameters<typeof judge>[0], one = attempt(scored(1))) =>
    (await markedSteps([one], { judge: judge(labels), ceiling: 1 })).map(({ learn }) => learn)

  it('leave out what is marked bad, and nothing else', async () => {
    expect(await learned(['bad', 'good'])).toEqual([[false, false, false, true]])
    expect(await learned([null, 'good'])).toEqual([[false, true, false, true]])
    expect(await learned(['good', 'bad'])).toEqual([[false, true, false, false]])
  })

  it('are of episodes that ended well, about which there is an opinion, and in which anything was right', async () => {
    expect(await learned(null)).toEqual([])
    expect(await learned(['bad', 'bad'])).toEqual([])
    expect(await learned(['good', 'good'], attempt(scored(0.5)))).toEqual([])
    expect(await learned(['good', 'good'], attempt(vetoed(1)))).toEqual([])
    expect(await learned(['good', 'good'], attempt(scored(1), 't0', 'turn-budget'))).toEqual([])
  })
})

describe('self-imitation weighs an episode', () => {
  const groupOf = (...rewards: readonly Reward[]): Group => ({
    id: GroupId.parse('g'),
    attempts: rewards.map((reward, i) => attempt(reward, `t${i}`)),
  })
  const weights = (groups: readonly Group[], options?: Parameters<typeof selfImitation>[1]) =>
    selfImitation(groups, options).map(({ weight }) => weight)

  it('by what it earned', () => {
    expect(weights([groupOf(scored(0), scored(0.5), scored(1))])).toEqual([0.5, 1])
  })

  it('by what it earned beyond its group', () => {
    const surplus = { weigh: 'surplus' } as const
    expect(weights([groupOf(scored(0), scored(0.5), scored(1)), groupOf(scored(2), scored(2))], surplus)).toEqual([0.5])
    // A vetoed attempt is no example, and part of what the policy comes to: the mean is 0.
    expect(weights([groupOf(vetoed(-1), scored(1))], surplus)).toEqual([1])
  })

  it('by how far it is from the best of all', () => {
    const options = { weigh: 'exponential', temperature: 0.5 } as const
    expect(weights([groupOf(scored(1)), groupOf(scored(0))], options)).toEqual([1, Math.exp(-2)])
  })

  it('and leaves out what is no example (invariant 5)', () => {
    const cut: Group = { id: GroupId.parse('g'), attempts: [attempt(scored(1), 't0', 'straggler')] }
    expect(weights([groupOf(missing, vetoed(1)), cut])).toEqual([])
  })

  it('refuses a reward below 0 that is to be a weight, and a temperature of 0', () => {
    expect(() => weights([groupOf(scored(-1))])).toThrow('An episode earned -1')
    expect(weights([groupOf(scored(-1))], { weigh: 'exponential' })).toEqual([1])
    expect(() => weights([], { temperature: 0 })).toThrow('temperature')
  })
})
