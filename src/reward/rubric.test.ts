import { describe, expect, it } from 'vitest'
import { type TrajectorySketch, trajectoryOf } from '../../test/support/trajectories.ts'
import { causedByPolicy, type Signal, StopReason, TrajectoryId } from '../core/index.ts'
import {
  brokenCalls,
  type Guard,
  perToolCall,
  repetition,
  type RewardPart,
  rubric,
  verifiedBy,
  verifier,
} from './index.ts'

const part = (score: number | null, identity = `constant:${score}`): RewardPart => ({ identity, score: () => score })
const veto: Guard = { name: 'always', identity: 'always', inspect: () => 'gamed' }
const score = (made: ReturnType<typeof rubric>, sketch: TrajectorySketch = {}, signals: Signal[] = [], asOf = 0) =>
  made.score(trajectoryOf(sketch), signals, asOf)

describe('in order', () => {
  it('adds its parts, between floor and ceiling', async () => {
    expect(await score(rubric({ solved: part(0.5), style: part(0.25) }))).toEqual({
      status: 'scored',
      value: 0.75,
      parts: { solved: 0.5, style: 0.25 },
    })
    expect(await score(rubric({ a: part(2) }))).toMatchObject({ value: 1, parts: { a: 2 } })
    expect(await score(rubric({ a: part(-2) }, { floor: -1 }))).toMatchObject({ value: -1 })
  })

  it('a missing part makes the whole missing, never 0 (invariant 1)', async () => {
    expect(await score(rubric({ solved: part(1), judged: part(null) }))).toEqual({
      status: 'missing',
      value: null,
      parts: { solved: 1, judged: null },
      reason: 'no evidence for judged',
    })
  })

  it('a veto earns the floor, whatever else was earned or is missing (invariant 5)', async () => {
    const options = { guards: [brokenCalls(), veto], floor: -0.5 }
    expect(await score(rubric({ solved: part(1) }, options))).toEqual({
      status: 'vetoed',
      value: -0.5,
      parts: { solved: 1 },
      guard: 'always',
      reason: 'gamed',
    })
    expect(await score(rubric({ solved: part(null) }, options))).toMatchObject({ status: 'vetoed' })
  })

  it.each(StopReason.options)('%s', async (stopReason) => {
    const made = rubric({ solved: part(1) }, { floor: -0.25 })
    const earned = await score(made, { stopReason })
    if (stopReason === 'done') expect(earned).toMatchObject({ status: 'scored', value: 1 })
    else if (causedByPolicy(stopReason)) expect(earned).toMatchObject({ status: 'scored', value: -0.25 })
    else expect(earned).toMatchObject({ status: 'missing', value: null, reason: stopReason })
  })

  it('a veto that lasts speaks of what was cut from outside, too', async () => {
    const lasting: Guard = { ...veto, lasting: true }
    const cut = { stopReason: 'straggler' as const }
    expect(await score(rubric({ solved: part(1) }, { guards: [lasting] }), cut)).toMatchObject({
      status: 'vetoed',
      value: 0,
    })
    expect(await score(rubric({ solved: part(1) }, { guards: [veto] }), cut)).toMatchObject({ status: 'missing' })
  })

  it.each(StopReason.options.filter((reason) => !causedByPolicy(reason)))(
    'cut: against keeps what speaks against %s',
    async (stopReason) => {
      const of = (value: number | null) => rubric({ solved: part(value) }, { floor: -1, cut: 'against' })
      expect(await score(of(-0.5), { stopReason })).toMatchObject({ status: 'scored', value: -0.5 })
      expect(await score(of(-5), { stopReason })).toMatchObject({ status: 'scored', value: -1 })
      for (const value of [0, 0.5, null]) {
        expect(await score(of(value), { stopReason })).toMatchObject({ status: 'missing', reason: stopReason })
      }
    },
  )

  it('what was told beats a guess, and either will do', async () => {
    const told = (value: number | null): RewardPart => ({ ...part(value), evidence: 'told' })
    const guess = (value: number | null): RewardPart => ({ ...part(value), evidence: 'guessed' })
    const earned = (a: number | null, b: number | null, c: number | null) =>
      score(rubric({ a: told(a), b: told(b), c: guess(c), price: part(-0.25) }, { floor: -1 }))
    expect(await earned(0.5, 0.25, 1)).toMatchObject({ value: 0.5, parts: { a: 0.5, b: 0.25, price: -0.25 } })
    expect((await earned(0.5, null, 1)).parts).toEqual({ a: 0.5, b: null, price: -0.25 })
    expect(await earned(null, null, 1)).toMatchObject({ value: 0.75 })
    expect(await earned(null, null, null)).toMatchObject({ status: 'missing', reason: 'no evidence for a or b or c' })
  })

  it('what the policy did not cause is not asked of parts or guards', async () => {
    const asked: string[] = []
    const nosy: RewardPart = {
      identity: 'nosy',
      score() {
        asked.push('part')
        return 1
      },
    }
    const failure = { code: 'model/failed', message: 'out of memory' }
    const earned = await score(rubric({ nosy }, { guards: [veto] }), { stopReason: 'model-error', failure })
    expect(earned).toMatchObject({ status: 'missing', reason: 'out of memory' })
    expect(asked).toEqual([])
  })
})

describe('what an episode was charged for choices', () => {
  const price = (score: number): RewardPart => ({ ...part(score, `price:${score}`), charges: 'route' })
  const charged = async (made: ReturnType<typeof rubric>, sketch: TrajectorySketch = {}, of = 'route') =>
    made.chargedFor?.(of, trajectoryOf(sketch), await score(made, sketch))

  it('is what the reward lacks for it, after its cut to floor and ceiling', async () => {
    expect(await charged(rubric({ solved: part(1), price: price(-0.3) }))).toBeCloseTo(0.3, 12)
    // Five turns of 0.3: the floor takes a part of the price, and a failure was charged nothing at all.
    expect(await charged(rubric({ solved: part(1), price: price(-1.5) }))).toBe(1)
    expect(await charged(rubric({ solved: part(0), price: price(-1.5) }))).toBe(0)
    expect(await charged(rubric({ solved: part(0), price: price(-1.5) }, { floor: -2 }))).toBe(1.5)
    expect(await charged(rubric({ solved: part(2), price: price(-0.5) }))).toBe(0)
    expect(await charged(rubric({ a: part(1), p: price(-0.25), q: price(-0.25) }))).toBe(0.5)
  })

  it('is nothing for other choices, where nothing is charged, and of what earned the floor or nothing', async () => {
    const made = rubric({ solved: part(1), price: price(-0.3) })
    expect(await charged(made, {}, 'way')).toBe(0)
    expect(await charged(rubric({ solved: part(1), price: part(-0.3) }))).toBe(0)
    expect(await charged(made, { stopReason: 'turn-budget' })).toBe(0)
    expect(await charged(made, { stopReason: 'straggler' })).toBe(0)
    expect(await charged(rubric({ solved: part(1), price: price(-0.3) }, { guards: [veto] }))).toBe(0)
  })
})

it('a part sees the signals up to asOf', async () => {
  const thumbs = (at: number): Signal => ({
    key: `k${at}`,
    trajectory: TrajectoryId.parse('t0'),
    node: null,
    source: 'user',
    tenant: 'default',
    reporter: 'ratchet',
    name: 'thumbs',
    value: 1,
    at,
  })
  const counting: RewardPart = { identity: 'count', score: (_, signals) => signals.length / 10 }
  expect(await score(rubric({ counting }), {}, [thumbs(1), thumbs(2), thumbs(3)], 2)).toMatchObject({ value: 0.2 })
})

describe('the hash', () => {
  const base = { parts: { solved: part(1) }, options: { guards: [repetition()] } }
  const hashOf = (parts: Record<string, RewardPart>, options = {}) => rubric(parts, options).hash

  it('is the same for the same rubric', () => {
    expect(hashOf(base.parts, base.options)).toBe(hashOf({ solved: part(1) }, { guards: [repetition({ times: 3 })] }))
  })

  it.each([
    ['a part', { solved: part(2) }, base.options],
    ['a part’s name', { done: part(1) }, base.options],
    ['a guard', base.parts, { guards: [] }],
    ['a guard’s options', base.parts, { guards: [repetition({ times: 2 })] }],
    ['the floor', base.parts, { ...base.options, floor: -1 }],
    ['the ceiling', base.parts, { ...base.options, ceiling: 2 }],
    ['what a cut episode earns', base.parts, { ...base.options, cut: 'against' }],
    ['whether a part is needed', { solved: { ...part(1), evidence: 'told' } }, base.options],
  ])('depends on %s', (_, parts, options) => {
    expect(hashOf(parts as Record<string, RewardPart>, options)).not.toBe(hashOf(base.parts, base.options))
  })
})

it('refuses what cannot work', async () => {
  expect(() => rubric({})).toThrow('at least one part')
  expect(() => rubric({ a: part(1) }, { floor: 2 })).toThrow('floor is 2 and its ceiling 1')
  expect(() => rubric({ a: part(1) }, { floor: Number.NaN })).toThrow('floor is NaN')
  await expect(score(rubric({ a: part(1), odd: part(Number.NaN) }))).rejects.toThrow('"odd" scored NaN')
  await expect(score(rubric({ odd: part(Number.NaN) }, { guards: [veto] }))).rejects.toThrow('"odd" scored NaN')
})

describe('parts', () => {
  it('verifier: reads the final state, and is missing without one', async () => {
    const solved = verifier(({ state }) => (state === 'right' ? 1 : 0), 'right-word')
    const episode = (state: string) => trajectoryOf({ finalState: { state, counts: {} } })
    expect(await solved.score(episode('right'), [], 0)).toBe(1)
    expect(await solved.score(episode('wrong'), [], 0)).toBe(0)
    expect(await solved.score(trajectoryOf({ finalState: null }), [], 0)).toBeNull()
    expect(solved.identity).toBe('verifier:right-word')
  })

  it('verifiedBy: asks the port', async () => {
    const port = { name: 'port', verify: () => Promise.resolve(null) }
    expect(await verifiedBy(port).score(trajectoryOf(), [], 0)).toBeNull()
  })

  it('perToolCall: charges every well-formed call', async () => {
    const call = { name: 'x', arguments: {} }
    const nodes = [
      { id: 'a', message: { role: 'assistant' as const, content: '', toolCalls: [call, call] } },
      { id: 'b', message: { role: 'tool' as const, name: 'x', content: '' } },
      { id: 'c', message: { role: 'assistant' as const, content: '', toolCalls: [call] } },
    ]
    expect(await perToolCall(-0.02).score(trajectoryOf({ nodes }), [], 0)).toBeCloseTo(-0.06, 12)
    expect(await perToolCall(-0.02).score(trajectoryOf(), [], 0)).toBeCloseTo(0, 12)
  })
})
