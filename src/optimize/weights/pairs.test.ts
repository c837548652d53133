import { describe, expect, it } from 'vitest'
import { encodedSpan, missing, sampledSpan, scored, trajectoryOf, vetoed } from '../../../test/support/trajectories.ts'
import { type Group, GroupId, type Reward, type StopReason } from '../../core/index.ts'
import { groupPairs, type PairSource } from './group-pairs.ts'
import { siblingPairs } from './sibling-pairs.ts'

/** An attempt that says these tokens, a turn each, after an opening; what is read between turns is their negative's hundred. */
const attempt = (
  said: readonly number[],
  reward: Reward,
  {
    opening = [7],
    stopReason = 'done',
  }: { readonly opening?: readonly number[]; readonly stopReason?: StopReason } = {},
) => {
  const turns = said.map((token, i) => ({
    id: `a${i}`,
    parent: i === 0 ? 'o' : `a${i - 1}`,
    spans: [...(i === 0 ? [] : [encodedSpan([100])]), sampledSpan([token]), encodedSpan([9])],
  }))
  const nodes = [{ id: 'o', spans: [encodedSpan(opening)] }, ...turns]
  return { trajectory: trajectoryOf({ id: `${said.join()}-${reward.value}`, nodes, stopReason }), reward }
}
const groupOf = (...attempts: Group['attempts']): Group => ({ id: GroupId.parse('g'), attempts })
/** The tokens of both sides that are learned, after their context. */
const read = (source: PairSource, group: Group) =>
  source([group]).map(({ chosen, rejected }) =>
    [chosen, rejected].map(({ tokens, learn }) => ({
      context: tokens.slice(0, learn.indexOf(true)),
      learned: tokens.filter((_, t) => learn[t]),
    })),
  )

describe('pairs of a group', () => {
  it('are its best attempt over its worst, whole', () => {
    const group = groupOf(attempt([1, 2], scored(0.5)), attempt([3, 4], scored(1)), attempt([5, 6], scored(0)))
    expect(read(groupPairs(), group)).toEqual([
      [
        { context: [7], learned: [3, 4] },
        { context: [7], learned: [5, 6] },
      ],
    ])
  })

  it('are none where attempts do not differ by more than the margin', () => {
    const group = groupOf(attempt([1], scored(1)), attempt([2], scored(0.5)))
    expect(groupPairs({ margin: 0.5 })([group])).toEqual([])
    expect(groupPairs({ margin: 0.4 })([group])).toHaveLength(1)
    expect(groupPairs()([groupOf(attempt([1], scored(1)), attempt([2], scored(1)))])).toEqual([])
  })

  it('prefer nothing that was vetoed, cut or not scored (invariant 5)', () => {
    const worst = attempt([2], scored(0))
    expect(groupPairs()([groupOf(attempt([1], vetoed(1)), worst)])).toEqual([])
    expect(groupPairs()([groupOf(attempt([1], scored(1), { stopReason: 'turn-budget' }), worst)])).toEqual([])
    expect(groupPairs()([groupOf(attempt([1], missing), worst)])).toEqual([])
    const vetoedWorst = groupOf(attempt([1], scored(1)), attempt([2], vetoed(-1)))
    expect(read(groupPairs(), vetoedWorst)[0]?.[1]?.learned).toEqual([2])
  })

  it('have read the same before they began', () => {
    const group = groupOf(attempt([1], scored(1)), attempt([2], scored(0), { opening: [8] }), attempt([3], scored(0.5)))
    expect(read(groupPairs(), group)[0]?.[1]?.learned).toEqual([3])
  })
})

describe('pairs of siblings', () => {
  // 1 → 2 earns 1 and 0, 1 → 3 earns 0; 4 earns 1.
  const group = groupOf(
    attempt([1, 2], scored(1)),
    attempt([1, 2], scored(0)),
    attempt([1, 3], scored(0)),
    attempt([4, 5], scored(1)),
  )

  it('are turns at one place, by what came of them on average', () => {
    expect(read(siblingPairs(), group)).toEqual([
      [
        { context: [7], learned: [4] },
        { context: [7], learned: [1] },
      ],
      [
        { context: [7, 1, 9, 100], learned: [2] },
        { context: [7, 1, 9, 100], learned: [3] },
      ],
    ])
  })

  it('differ by more than the margin', () => {
    // 1 is worth a third, 4 is worth 1; 2 a half, 3 nothing.
    expect(siblingPairs({ margin: 0.5 })([group])).toHaveLength(1)
    expect(siblingPairs({ margin: 0.7 })([group])).toHaveLength(0)
  })

  it('prefer no turn that only vetoed, cut or unscored attempts took', () => {
    expect(siblingPairs()([groupOf(attempt([1], vetoed(1)), attempt([2], scored(0)))])).toEqual([])
    const cut = attempt([1], scored(1), { stopReason: 'token-budget' })
    expect(siblingPairs()([groupOf(cut, attempt([2], scored(0)))])).toEqual([])
    expect(siblingPairs()([groupOf(attempt([1], missing), attempt([2], scored(0)))])).toEqual([])
  })

  it('are none where one way was taken', () => {
    expect(siblingPairs()([groupOf(attempt([1], scored(1)), attempt([1], scored(0)))])).toEqual([])
  })
})

it.each([-1, Number.NaN])('a margin of %s is refused', (margin) => {
  expect(() => groupPairs({ margin })).toThrow('margin')
  expect(() => siblingPairs({ margin })).toThrow('margin')
})
