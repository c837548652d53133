import { describe, expect, it } from 'vitest'
import { type AuditLabel, TrajectoryId } from '../../core/index.ts'
import { truthOf } from './truth.ts'

const label = (reviewer: string, truth: number | null, change: Partial<AuditLabel> = {}): AuditLabel => ({
  tenant: 'default',
  draw: 'd',
  reviewer,
  by: 'person',
  truth,
  note: '',
  at: 1,
  withdrawnAt: null,
  ...change,
})
const rules = { by: 'person', reviewers: 1, trusted: [], patienceMs: 100 } as const
const of = (labels: readonly AuditLabel[], reviewers = 1, trajectory = 't0', { now = 2, ...change } = {}) =>
  truthOf({ labels, sequence: 0, trajectory: TrajectoryId.parse(trajectory) }, { ...rules, reviewers, ...change }, now)
const waits = (needs: number) => ({ settled: false, truth: null, needs })
const settled = (truth: number | null) => ({ settled: true, truth, needs: 0 })

describe('the truth of a draw', () => {
  it('waits for as many labels as are asked', () => {
    expect(of([])).toEqual(waits(1))
    expect(of([label('ann', 1)])).toEqual(settled(1))
    expect(of([label('ann', 1)], 3)).toEqual(waits(2))
  })

  it('is what most say: of two who contradict each other a third decides', () => {
    expect(of([label('ann', 1), label('bob', 0)])).toEqual(waits(1))
    expect(of([label('ann', 1), label('bob', 0), label('cy', 0)])).toEqual(settled(0))
    expect(of([label('ann', 0.5), label('bob', 0.5)], 2)).toEqual(settled(0.5))
  })

  it('is missing, and not 0, where most cannot tell', () => {
    expect(of([label('ann', null)])).toEqual(settled(null))
    expect(of([label('ann', null), label('bob', 1)], 2)).toEqual(settled(1))
    expect(of([label('ann', null), label('bob', null), label('cy', 1)], 3)).toEqual(settled(null))
  })

  it('does not count what was taken back, or another source said', () => {
    expect(of([label('ann', 1, { withdrawnAt: 9 })])).toEqual(waits(1))
    expect(of([label('verifier', 1, { by: 'verifier' })])).toEqual(waits(1))
  })

  it('waits no more for a session that was erased', () => {
    expect(of([], 1, 'erased-0')).toEqual(settled(null))
    expect(of([label('ann', 1), label('bob', 0)], 1, 'erased-0')).toEqual(settled(null))
    expect(of([label('ann', 1)], 1, 'erased-0')).toEqual(settled(1))
  })

  it('takes all names that a key makes up as one reviewer, by their median', () => {
    const names = ['a', 'b', 'c'].map((name) => label(`k_1:${name}`, 1))
    expect(of(names, 3)).toEqual(waits(2))
    expect(of([...names, label('k_2', 0)], 3)).toEqual(waits(1))
    expect(of([label('k_1:a', 1), label('k_1:b', 1), label('k_1:c', 0)])).toEqual(settled(1))
    expect(of([...names, label('k_2', 0), label('k_3', 0)])).toEqual(settled(0))
  })

  it('takes the names of a key that is trusted as people, and single ones', () => {
    const names = ['a', 'b', 'c'].map((name) => label(`k_1:${name}`, 1))
    const trusting = (...trusted: string[]) =>
      truthOf(
        { labels: names, sequence: 0, trajectory: TrajectoryId.parse('t') },
        { ...rules, reviewers: 3, trusted },
        2,
      )
    expect(trusting('k_1')).toEqual(settled(1))
    expect(trusting('k_1:a')).toEqual(waits(1))
  })

  it('is missing where a contradiction waits for too long: two who cannot agree block nothing for ever', () => {
    const tie = [label('ann', 1), label('bob', 0, { at: 50 })]
    expect(of(tie, 2, 't0', { now: 149 })).toEqual(waits(1))
    expect(of(tie, 2, 't0', { now: 150 })).toEqual(settled(null))
    expect(of([label('ann', 1)], 2, 't0', { now: 1_000 })).toEqual(waits(1))
  })

  it('is what a program says, which judges alone', () => {
    const [said] = [label('verifier', 1, { by: 'verifier' })]
    const alone = { ...rules, by: 'verifier', reviewers: 3 } as const
    expect(
      truthOf({ labels: [said as AuditLabel], sequence: 0, trajectory: TrajectoryId.parse('t') }, alone, 2),
    ).toEqual(settled(1))
  })
})
