import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { missing, scored, trajectoryOf, vetoed } from '../../../../test/support/trajectories.ts'
import { type Group, GroupId, type Reward, rng, type StopReason, TrajectoryId } from '../../../core/index.ts'
import { drawRehearsal, successesIn, thinned } from './rehearsal.ts'
import type { Success } from '../../run/state.ts'

/** A group of attempts at a task, with ids `<task>-0`, `<task>-1` … */
const groupOf = (task: string, rewards: readonly Reward[], stopReason: StopReason = 'done'): Group => ({
  id: GroupId.parse(task),
  attempts: rewards.map((reward, i) => ({
    trajectory: trajectoryOf({ id: `${task}-${i}`, task, stopReason }),
    reward,
  })),
})
const [won, lost] = [scored(1), scored(0)]
const keptOf = (...groups: readonly Group[]) =>
  successesIn(groups, 1, ({ instruction }) => instruction).map(({ trajectory }) => trajectory)

describe('a success is kept', () => {
  it('of a group the first, with its family', () => {
    const kept = successesIn([groupOf('a', [lost, won, won, lost])], 1, ({ instruction }) => instruction)
    expect(kept).toEqual([{ family: 'Do it.', tools: [], trajectory: 'a-1', forced: false }])
    expect(keptOf(groupOf('a', [won, won]))).toEqual(['a-0'])
    expect(keptOf(groupOf('a', [lost, lost]))).toEqual([])
  })

  it('where it came to its own end and earned all there is (invariant 5)', () => {
    expect(keptOf(groupOf('a', [won, lost], 'turn-budget'))).toEqual([])
    expect(keptOf(groupOf('a', [vetoed(1), lost]))).toEqual([])
    expect(keptOf(groupOf('a', [scored(0.99), lost]))).toEqual([])
    expect(keptOf(groupOf('a', [missing, scored(1.5), lost]))).toEqual(['a-1'])
  })
})

describe('of more than 256 successes', () => {
  const successes = (family: string, count: number): Success[] =>
    Array.from({ length: count }, (_, i) => ({
      family,
      tools: [],
      trajectory: TrajectoryId.parse(`${family}-${i}`),
      forced: false,
    }))
  const idsOf = (kept: readonly Success[]) => kept.map(({ trajectory }) => String(trajectory))

  it('the oldest go', () => {
    expect(idsOf(thinned(successes('a', 300)))).toEqual(idsOf(successes('a', 300).slice(44)))
    expect(thinned(successes('a', 256))).toHaveLength(256)
  })

  it('those go first of which there are most, so that what seldom succeeds is not crowded out', () => {
    const kept = thinned([...successes('rare', 3), ...successes('common', 300), ...successes('other', 40)])
    const of = (family: string) => idsOf(kept.filter((one) => one.family === family))
    expect(of('rare')).toHaveLength(3)
    expect(of('other')).toHaveLength(40)
    expect(of('common')).toEqual(idsOf(successes('common', 300).slice(87)))
  })
})

describe('what is rehearsed is drawn', () => {
  const pool = Array.from({ length: 40 }, (_, item) => ({
    family: item % 2 === 0 ? 'weak' : 'strong',
    tools: [],
    forced: false,
    item,
  }))
  const standing = { weak: { attempts: 99, successes: 0 }, strong: { attempts: 99, successes: 99 } }

  it('without repetition, and as many as there are and are wanted', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(60), fc.nat(), (size, count, seed) => {
        const drawn = drawRehearsal(pool.slice(0, size), count, standing, rng(seed))
        expect(drawn).toHaveLength(Math.min(size, count))
        expect(new Set(drawn).size).toBe(drawn.length)
        expect(drawn.every((item) => item < size)).toBe(true)
        expect(drawRehearsal(pool.slice(0, size), count, standing, rng(seed))).toEqual(drawn)
      }),
    )
  })

  it('the more often, the less often its family succeeds', () => {
    const random = rng('shares')
    const drawn = Array.from({ length: 4000 }, () => drawRehearsal(pool, 1, standing, random)).flat()
    // Weights of 0.02 + 0.995² and 0.02 + 0.005²: a share of 0.019.
    const share = drawn.filter((item) => item % 2 === 1).length / drawn.length
    expect(share).toBeGreaterThan(0.012)
    expect(share).toBeLessThan(0.027)
  })

  it('within a family by each set of tools alike, however many successes use it', () => {
    const random = rng('tools')
    const family = 'broken'
    const mixed = Array.from({ length: 20 }, (_, i) => ({
      family,
      tools: [i < 18 ? 'refund' : 'replace'],
      forced: false,
      item: i,
    }))
    const drawn = Array.from({ length: 4000 }, () => drawRehearsal(mixed, 1, {}, random)).flat()
    // By their number it would be a tenth.
    const share = drawn.filter((item) => item >= 18).length / drawn.length
    expect(share).toBeGreaterThan(0.45)
    expect(share).toBeLessThan(0.55)
  })

  it('within a family those with a forced act like a set of tools of their own', () => {
    const random = rng('forced')
    const mixed = Array.from({ length: 20 }, (_, i) => ({
      family: 'broken',
      tools: ['refund'],
      forced: i >= 18,
      item: i,
    }))
    const drawn = Array.from({ length: 4000 }, () => drawRehearsal(mixed, 1, {}, random)).flat()
    const share = drawn.filter((item) => item >= 18).length / drawn.length
    expect(share).toBeGreaterThan(0.45)
    expect(share).toBeLessThan(0.55)
  })
})
