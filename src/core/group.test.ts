import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DecisionSketch, missing, scored, trajectoryOf, vetoed } from '../../test/support/trajectories.ts'
import { groupAttempts, rewardsOf } from './group.ts'

interface Attempt {
  readonly id: string
  readonly group?: string
  readonly task?: string
  readonly decisions?: readonly DecisionSketch[]
}

const groupsOf = (attempts: readonly Attempt[]) =>
  groupAttempts(attempts.map((attempt) => ({ trajectory: trajectoryOf(attempt), reward: scored(1) }))).map((group) =>
    group.attempts.map(({ trajectory }) => trajectory.id),
  )

describe('groupAttempts', () => {
  it('keeps attempts at one task under equal versions together, in their order', () => {
    expect(groupsOf([{ id: 'a' }, { id: 'b', group: 'h' }, { id: 'c' }])).toEqual([['a', 'c'], ['b']])
  })

  it('splits attempts at different tasks', () => {
    expect(groupsOf([{ id: 'a' }, { id: 'b', task: 'other' }, { id: 'c' }])).toEqual([['a', 'c'], ['b']])
  })

  it('splits attempts under different versions or checkpoints of a Parameter', () => {
    const under = (id: string, decision: DecisionSketch) => ({ id, decisions: [decision] })
    expect(
      groupsOf([
        under('a', { version: 'v1' }),
        under('b', { version: 'v2' }),
        under('c', { version: 'v1', checkpoint: 0 }),
        under('d', { version: 'v1', checkpoint: 1 }),
        under('e', { version: 'v1' }),
      ]),
    ).toEqual([['a', 'e'], ['b'], ['c'], ['d']])
  })

  it('splits off an attempt whose version changed midway', () => {
    const changed = [{ version: 'v1' }, { version: 'v2' }]
    expect(groupsOf([{ id: 'a' }, { id: 'b', decisions: changed }, { id: 'c', decisions: changed }])).toEqual([
      ['a'],
      ['b', 'c'],
    ])
  })

  it('keeps arms together: a Parameter that decided nothing contradicts no version', () => {
    const recall: DecisionSketch = { parameter: 'cases', kind: 'memory', version: 'm1' }
    expect(
      groupsOf([
        { id: 'without' },
        { id: 'with', decisions: [recall, {}] },
        { id: 'crashed', decisions: [] },
        { id: 'older', decisions: [{ ...recall, version: 'm0' }, {}] },
      ]),
    ).toEqual([['without', 'with', 'crashed'], ['older']])
  })

  it('is not confused by names that contain separators', () => {
    expect(
      groupsOf([
        { id: 'a', group: 'g|t', task: 'u' },
        { id: 'b', group: 'g', task: 't|u' },
      ]),
    ).toEqual([['a'], ['b']])
  })

  it('neither loses nor doubles an attempt, and never mixes versions of a Parameter', () => {
    const attempt = fc.record({
      group: fc.constantFrom('g', 'h'),
      task: fc.constantFrom('t', 'u'),
      decisions: fc.array(fc.record({ parameter: fc.constantFrom('a', 'b'), version: fc.constantFrom('v1', 'v2') }), {
        maxLength: 3,
      }),
    })
    fc.assert(
      fc.property(fc.array(attempt), (attempts) => {
        const given = attempts.map((sketch, i) => ({
          trajectory: trajectoryOf({ ...sketch, id: `t${i}` }),
          reward: scored(0),
        }))
        const groups = groupAttempts(given)
        const out = groups.flatMap((group) => group.attempts)
        expect(out.length).toBe(given.length)
        expect(new Set(out)).toEqual(new Set(given))
        for (const { id, attempts: members } of groups) {
          expect(new Set(members.map(({ trajectory }) => trajectory.task.id)).size).toBe(1)
          expect(members.every(({ trajectory }) => trajectory.group === id)).toBe(true)
          for (const parameter of ['a', 'b']) {
            const seen = members.flatMap(({ trajectory }) => {
              const made = trajectory.decisions.filter((decision) => decision.parameter === parameter)
              return made.length === 0 ? [] : [[...new Set(made.map(({ version }) => version))].toSorted().join()]
            })
            expect(new Set(seen).size).toBeLessThanOrEqual(1)
          }
        }
      }),
    )
  })

  it('takes ten thousand attempts in one go', () => {
    const given = Array.from({ length: 10_000 }, (_, i) => ({ id: `t${i}`, group: `g${i % 1250}` }))
    expect(groupsOf(given).length).toBe(1250)
  })
})

describe('rewardsOf', () => {
  const group = (...rewards: Parameters<typeof scored>[0][]) => ({
    id: trajectoryOf().group,
    attempts: rewards.map((value) => ({ trajectory: trajectoryOf(), reward: scored(value) })),
  })

  it('gives null for a missing reward, never 0, and the floor for a vetoed one', () => {
    const rewards = [scored(0.5), missing, vetoed(-1)]
    const attempts = rewards.map((reward) => ({ trajectory: trajectoryOf(), reward }))
    expect(rewardsOf({ id: trajectoryOf().group, attempts })).toEqual([0.5, null, -1])
  })

  it('refuses a reward that is no number', () => {
    expect(() => rewardsOf(group(1, Number.NaN))).toThrow('a reward is NaN')
  })
})
