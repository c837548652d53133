import { array, assert, asyncProperty, constant, constantFrom, double, oneof } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type TrajectorySketch, trajectoryOf } from '../../test/support/trajectories.ts'
import { Signal, type Trajectory } from '../core/index.ts'
import { bestAttempt } from './best-attempt.ts'
import { hybrid, outcome } from './evidence/index.ts'
import type { RewardPart } from './part.ts'
import { rubric } from './rubric.ts'

/** What a test says of an attempt is in its final state. */
const told = (key: 'tests' | 'scorer'): RewardPart => ({
  identity: key,
  score: ({ finalState }) => (finalState?.state as Record<string, number | null> | undefined)?.[key] ?? null,
})
const attempt = (id: string, state: Record<string, number | null>, rest: TrajectorySketch = {}): Trajectory =>
  trajectoryOf({ id, finalState: { state, counts: {} }, ...rest })
const right = rubric({ right: hybrid(told('tests'), told('scorer')) })
const known = { asOf: 0 }
const idsOf = (chosen: readonly { readonly trajectory: Trajectory }[]) => chosen.map(({ trajectory }) => trajectory.id)

describe('the best of several attempts', () => {
  it('is the one that passes and is ranked highest', async () => {
    const attempts = [
      attempt('a', { tests: 0, scorer: 1 }),
      attempt('b', { tests: 1, scorer: 0.2 }),
      attempt('c', { tests: 1, scorer: 0.7 }),
    ]
    const { best, tied, passedOver } = await bestAttempt(attempts, right, known)
    expect(best).toMatchObject({ trajectory: { id: 'c' }, reward: { status: 'scored' } })
    expect([idsOf(tied), passedOver]).toEqual([['c'], []])
  })

  it('is the first of those that are equal, and the others are named', async () => {
    const attempts = ['a', 'b', 'c'].map((id, i) => attempt(id, { tests: i === 0 ? 0 : 1, scorer: 0.5 }))
    const { best, tied } = await bestAttempt(attempts, right, known)
    expect(best?.trajectory.id).toBe('b')
    expect(idsOf(tied)).toEqual(['b', 'c'])
  })

  it('has no score where the evidence is missing: such an attempt is not a bad one, and is named', async () => {
    const attempts = [attempt('a', { tests: 1, scorer: null }), attempt('b', { tests: 0, scorer: 0 })]
    const { best, passedOver } = await bestAttempt(attempts, right, known)
    expect(best).toMatchObject({ trajectory: { id: 'b' }, reward: { value: 0 } })
    expect(passedOver).toMatchObject([{ trajectory: { id: 'a' }, reward: { status: 'missing', value: null } }])
  })

  it('is none where no attempt can be chosen', async () => {
    const down = attempt('a', {}, { stopReason: 'environment-error', finalState: null })
    expect(await bestAttempt([down], right, known)).toMatchObject({ best: null, tied: [], passedOver: [{}] })
  })

  it('is none that was gamed or cut, whatever it scores', async () => {
    const gamed = rubric(
      { tests: told('tests') },
      {
        floor: 0,
        guards: [
          { name: 'g', identity: 'g', lasting: true, inspect: ({ id }: Trajectory) => (id === 'a' ? 'gamed' : null) },
        ],
      },
    )
    const attempts = [
      attempt('a', { tests: 1 }),
      attempt('b', { tests: 1 }, { stopReason: 'turn-budget' }),
      attempt('c', { tests: 0 }),
    ]
    const { best, passedOver } = await bestAttempt(attempts, gamed, known)
    expect(best?.trajectory.id).toBe('c')
    expect(idsOf(passedOver)).toEqual(['a', 'b'])
  })

  it('reads signals up to a moment', async () => {
    const merged = Signal.parse({
      key: 's',
      trajectory: 'b',
      node: null,
      source: 'outcome',
      reporter: 'ci',
      name: 'merged',
      value: 1,
      at: 5,
    })
    const attempts = [attempt('a', {}), attempt('b', {})]
    const reward = rubric({ merged: outcome('merged') })
    const at = (asOf: number) => bestAttempt(attempts, reward, { asOf, signals: [merged] })
    expect((await at(5)).best?.trajectory.id).toBe('b')
    expect((await at(4)).best).toBeNull()
  })

  it('never scores below another that can be chosen, and every attempt is either choosable or passed over', async () => {
    const unit = oneof(double({ min: 0, max: 1, noNaN: true }), constantFrom(0, 1), constant(null))
    await assert(
      asyncProperty(array(unit, { minLength: 1, maxLength: 8 }), async (scores) => {
        const attempts = scores.map((tests, i) => attempt(`t${i}`, { tests }))
        const { best, tied, passedOver } = await bestAttempt(attempts, rubric({ tests: told('tests') }), known)
        const there = scores.filter((one) => one !== null)
        expect(passedOver).toHaveLength(scores.length - there.length)
        expect(best?.reward.value ?? null).toBe(there.length === 0 ? null : Math.max(...there))
        expect(tied).toHaveLength(there.filter((one) => one === best?.reward.value).length)
      }),
    )
  })

  it('refuses no attempts, and those at several tasks', async () => {
    await expect(bestAttempt([], right, known)).rejects.toMatchObject({ code: 'reward/no-attempts' })
    const two = [attempt('a', {}), attempt('b', {}, { task: 'other' })]
    await expect(bestAttempt(two, right, known)).rejects.toMatchObject({ code: 'reward/several-tasks' })
  })
})
