import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { missing, scored, trajectoryOf, vetoed } from '../../../test/support/trajectories.ts'
import {
  NodeId,
  type Reward,
  type ScoredTrajectory,
  type StopReason,
  StopReason as StopReasons,
} from '../../core/index.ts'
import { diagnose, Diagnosis } from './diagnose.ts'

/** Builds an attempt that ended so, after so many steps, with so many broken calls in its one message. */
const attempt = (stopReason: StopReason, reward: Reward, { steps = 0, broken = 0 } = {}): ScoredTrajectory => {
  const malformedCalls = Array.from({ length: broken }, () => ({ text: '!', problem: 'not JSON' }))
  const nodes = [{ id: 'n0', message: { role: 'assistant' as const, content: '', malformedCalls } }]
  const trajectory = trajectoryOf({ nodes, stopReason })
  const action = NodeId.parse('n0')
  const step = (index: number) => ({ index, action, observations: [], decisions: [] })
  return { trajectory: { ...trajectory, steps: Array.from({ length: steps }, (_, i) => step(i)) }, reward }
}

const endingOf = (one: ScoredTrajectory) => Object.keys(diagnose([one], 1).endings)[0]

describe('an attempt ends', () => {
  it.each<[string, StopReason, Reward, { steps?: number; broken?: number }?]>([
    ['success', 'done', scored(1)],
    ['success', 'turn-budget', scored(1)],
    ['wrong', 'done', scored(0.9)],
    ['broken-first-call', 'malformed-call', scored(0), { steps: 1, broken: 1 }],
    ['broken-call', 'malformed-call', scored(0), { steps: 2, broken: 1 }],
    ['tool-errors', 'tool-errors', scored(0)],
    ['turns', 'turn-budget', scored(0)],
    ['tokens', 'token-budget', scored(0)],
    ['context', 'context-length', scored(0)],
    ['vetoed', 'done', vetoed(1)],
    ['wrong', 'done', vetoed(0), { broken: 1 }],
    ['missing', 'environment-error', missing],
    ['missing', 'done', missing],
  ])('in %s: %s, %j', (ending, stopReason, reward, more) => {
    expect(endingOf(attempt(stopReason, reward, more))).toBe(ending)
  })
})

it('tells the shares of the endings, the largest first, and what to do about the largest that is no success', () => {
  const of = (count: number, one: ScoredTrajectory) => Array.from({ length: count }, () => one)
  const diagnosis = diagnose(
    [
      ...of(1, attempt('done', scored(0))),
      ...of(5, attempt('done', scored(1))),
      ...of(2, attempt('turn-budget', scored(0))),
    ],
    1,
  )
  expect(diagnosis).toEqual({
    attempts: 8,
    endings: { success: 5, turns: 2, wrong: 1 },
    message: 'Of 8 attempts 63 % succeed, 25 % run out of turns, 13 % end in a way that earns too little.',
    hint: expect.stringContaining('Raise episode.turns') as string,
  })
})

it('has nothing to do where all succeed, or nothing was attempted', () => {
  expect(diagnose([attempt('done', scored(2))], 2).hint).toBe('Do nothing.')
  expect(diagnose([], 1)).toMatchObject({ attempts: 0, endings: {}, message: 'Nothing was attempted.' })
})

it('counts every attempt once, however it ended, in a form that can be kept', () => {
  const reward = fc.oneof(
    fc.constantFrom(missing, vetoed(0), scored(1)),
    fc.double({ noNaN: true, min: 0, max: 1 }).map(scored),
  )
  const any = fc
    .tuple(fc.constantFrom(...StopReasons.options), reward, fc.record({ steps: fc.nat(3), broken: fc.nat(2) }))
    .map(([stopReason, earned, more]) => attempt(stopReason, earned, more))
  fc.assert(
    fc.property(fc.array(any, { maxLength: 20 }), (batch) => {
      const diagnosis = diagnose(batch, 1)
      expect(Diagnosis.parse(diagnosis)).toEqual(diagnosis)
      expect(Object.values(diagnosis.endings).reduce((sum, count) => sum + count, 0)).toBe(batch.length)
      expect(diagnosis.endings.success ?? 0).toBe(
        batch.filter(({ reward: { status, value } }) => status === 'scored' && value !== null && value >= 1).length,
      )
    }),
  )
})
