import { describe, expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import { type Embedder, NodeId, rng, Signal, type Trajectory } from '../../core/index.ts'
import { foldsBySubject, type JudgedExample } from './example.ts'
import {
  acceptance,
  acceptances,
  countedFeatures,
  embeddedFeatures,
  fitRewardModel,
  learnedReward,
  learnedStepJudge,
  RewardModel,
} from './index.ts'

/** Subjects who accept what their first feature says, but for the share of noise. */
function world(seed: number, { noise = 0.1, subjects = 30, each = 8 } = {}): JudgedExample[] {
  const random = rng('world', seed)
  return Array.from({ length: subjects * each }, (_, i) => {
    const features = [random.next() - 0.5, random.next() - 0.5]
    const truth = (features[0] ?? 0) > 0
    return { subject: `s${i % subjects}`, features, accepted: random.next() < noise ? !truth : truth }
  })
}
const features = 'test'

describe('a reward model', () => {
  it('is taken where it beats the constant on subjects that were held out', () => {
    const fitted = fitRewardModel(world(1), { features })
    expect(fitted).toMatchObject({ status: 'fitted', evidence: { examples: 240, subjects: 30 } })
    if (fitted.status !== 'fitted') return
    expect(fitted.evidence.brier).toBeLessThan(fitted.evidence.constantBrier)
    expect(fitted.evidence.gain.low).toBeGreaterThan(0)
    expect(acceptance(fitted.model, [0.4, 0])).toBeGreaterThan(0.8)
    expect(acceptance(fitted.model, [-0.4, 0])).toBeLessThan(0.2)
  })

  it('is refused on noise, with its numbers', () => {
    for (const calibration of ['platt', 'isotonic'] as const) {
      const fitted = fitRewardModel(world(2, { noise: 0.5 }), { features, calibration })
      expect(fitted).toMatchObject({ status: 'refused', reason: expect.stringMatching(/constant/) as string })
      expect(fitted.evidence?.gain.low).toBeLessThanOrEqual(0)
    }
  })

  it('is refused where the signals are few, or all say the same', () => {
    expect(fitRewardModel([], { features })).toMatchObject({ status: 'refused', evidence: null })
    expect(fitRewardModel(world(1, { subjects: 9, each: 20 }), { features })).toMatchObject({
      reason: 'there is too little to learn from: 9 subjects, at least 10',
    })
    const glad = world(1).map((one) => ({ ...one, accepted: true }))
    expect(fitRewardModel(glad, { features })).toMatchObject({
      reason: 'there is too little to learn from: 0 rejected examples, at least 10',
    })
  })

  it('knows no taste of one subject as that of others: what only tells people apart is refused', () => {
    // The feature is who judges; within a subject everything is the same. A split by example would be fooled.
    const random = rng('taste')
    const examples = Array.from({ length: 12 }, (_, s) => {
      const accepted = s % 2 === 0
      const own = Array.from({ length: 12 }, (__, i) => (i === s ? 1 : 0))
      return Array.from({ length: 20 }, () => ({
        subject: `s${s}`,
        features: own,
        accepted: random.next() < 0.05 !== accepted,
      }))
    }).flat()
    expect(fitRewardModel(examples, { features }).status).toBe('refused')
    const byExample = examples.map((one, i) => ({ ...one, subject: `e${i}` }))
    expect(fitRewardModel(byExample, { features }).status).toBe('fitted')
  })

  it('one who judges a thousand times counts as one', () => {
    const loud = Array.from({ length: 1_000 }, (_, i) => ({
      subject: 'loud',
      features: [i % 2 === 0 ? 0.3 : -0.3, 0],
      accepted: i % 2 !== 0,
    }))
    const fitted = fitRewardModel([...world(3), ...loud], { features })
    expect(fitted.status).toBe('fitted')
    if (fitted.status === 'fitted') expect(fitted.model.weights[0]).toBeGreaterThan(0)
  })

  it('repeats, and survives JSON', () => {
    const [a, b] = [fitRewardModel(world(1), { features }), fitRewardModel(world(1), { features })]
    expect(a).toEqual(b)
    if (a.status !== 'fitted') throw new Error('refused')
    expect(RewardModel.parse(JSON.parse(JSON.stringify(a.model)))).toEqual(a.model)
  })

  it('refuses features that differ, and such as are no numbers', () => {
    const [first, ...rest] = world(1)
    const bad = expect.objectContaining({ code: 'reward/bad-features' })
    expect(() => fitRewardModel([{ subject: 's', features: [1], accepted: true }, ...rest], { features })).toThrow(bad)
    expect(() => fitRewardModel([{ subject: 's', features: [1, NaN], accepted: true }, ...rest], { features })).toThrow(
      bad,
    )
    expect(first).toBeDefined()
    const fitted = fitRewardModel(world(1), { features })
    if (fitted.status === 'fitted') expect(() => acceptance(fitted.model, [1])).toThrow(bad)
  })
})

describe('a split', () => {
  it('has all of a subject in one part, and parts of about one size', () => {
    const examples = world(1)
    const folds = foldsBySubject(examples, 5, 0)
    const homes = new Map<string, Set<number>>()
    for (const [i, { subject }] of examples.entries()) {
      homes.set(subject, (homes.get(subject) ?? new Set()).add(folds[i] ?? -1))
    }
    expect([...homes.values()].every((home) => home.size === 1)).toBe(true)
    for (let fold = 0; fold < 5; fold++) expect(folds.filter((one) => one === fold)).toHaveLength(48)
  })
})

/** An episode of two steps. */
const episode = (id: string, said = 'Done.'): Trajectory => ({
  ...trajectoryOf({
    id,
    nodes: [
      { id: 'q', message: { role: 'user', content: 'Book it?' } },
      {
        id: 'a',
        parent: 'q',
        message: { role: 'assistant', content: '', toolCalls: [{ name: 'book', arguments: {} }] },
      },
      { id: 'r', parent: 'a', message: { role: 'tool', name: 'book', content: 'no', isError: true } },
      { id: 'b', parent: 'r', message: { role: 'assistant', content: said } },
    ],
  }),
  steps: ['a', 'b'].map((action, index) => ({ index, action: NodeId.parse(action), observations: [], decisions: [] })),
})
const told = (key: string, trajectory: string, reporter: string, value: Signal['value'], rest: object = {}): Signal =>
  Signal.parse({ key, trajectory, node: null, source: 'user', reporter, name: 'kept', value, at: 1, ...rest })
const reading = { name: 'kept', source: 'user', asOf: 10 } as const

describe('acceptances', () => {
  it('are read from the last word of each, and what cannot be read is counted', async () => {
    const signals = [
      told('1', 't0', 'ann', true),
      told('2', 't0', 'ann', false, { at: 2 }),
      told('3', 't1', 'bob', 'accepted'),
      told('4', 't1', 'bob', 'rejected', { node: 'a' }),
      told('5', 't1', 'eve', 'perhaps'),
      told('6', 'gone', 'bob', true),
      told('7', 't1', 'zoe', true, { at: 11 }),
      told('8', 't1', 'zoe', true, { source: 'outcome' }),
      told('9', 't1', 'zoe', true, { node: 'q' }),
    ]
    const { examples, dropped } = await acceptances([episode('t0'), episode('t1')], signals, countedFeatures, reading)
    expect(examples.map(({ accepted }) => accepted)).toEqual([false, true, false])
    expect(dropped).toBe(3)
    // The step is read as it stood then: one turn, no failed call yet.
    expect(examples[2]?.features.slice(0, 4)).toEqual([Math.log1p(1), Math.log1p(1), 0, 0])
    expect(examples[1]?.features.slice(0, 4)).toEqual([Math.log1p(2), Math.log1p(1), 0, Math.log1p(1)])
  })

  it('have one subject for all who judged one episode', async () => {
    const signals = [
      told('1', 't0', 'ann', true),
      told('2', 't0', 'bob', true),
      told('3', 't1', 'bob', true),
      told('4', 't2', 'zoe', true),
    ]
    const { examples } = await acceptances(
      ['t0', 't1', 't2'].map((id) => episode(id)),
      signals,
      countedFeatures,
      reading,
    )
    const [a, b, c, d] = examples.map(({ subject }) => subject)
    expect([b, c]).toEqual([a, a])
    expect(d).not.toBe(a)
  })
})

describe('what a model gives', () => {
  const embedder: Embedder = {
    name: 'two',
    dimensions: 1,
    costly: false,
    embed: (texts) => Promise.resolve(texts.map((text) => Float32Array.of(text.startsWith('Done') ? 0.5 : -0.5))),
  }
  const read = embeddedFeatures(embedder)
  const fitted = fitRewardModel(
    world(1).map((one) => ({ ...one, features: [0, one.features[0] ?? 0] })),
    { features: read.name },
  )
  if (fitted.status !== 'fitted') throw new Error('refused')
  const { model } = fitted

  it('a part of a rubric', async () => {
    const score = (trajectory: Trajectory) => learnedReward(model, read, 0.5).score(trajectory, [], 0)
    expect(await score(episode('t0'))).toBeGreaterThan(0.4)
    expect(await score(episode('t0', 'No.'))).toBeLessThan(0.1)
    expect(await score(trajectoryOf({ nodes: [{ id: 'q' }] }))).toBeNull()
    expect(learnedReward(model, read).identity).not.toBe(learnedReward(model, read, 0.5).identity)
  })

  it('labels of steps, and none where it is not sure', async () => {
    const label = (sure: number) =>
      learnedStepJudge(model, read, sure).label(episode('t0'), {
        status: 'missing',
        value: null,
        parts: {},
        reason: '',
      })
    expect(await label(0.6)).toEqual(['bad', 'good'])
    expect(await label(1)).toEqual([null, null])
  })

  it('refuses features that it was not trained on', () => {
    const other = expect.objectContaining({ code: 'reward/other-features' })
    expect(() => learnedReward(model, countedFeatures)).toThrow(other)
    expect(() => learnedStepJudge(model, countedFeatures)).toThrow(other)
  })
})
