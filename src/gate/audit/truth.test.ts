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
const of = (labels: readonly AuditLabel[], reviewers = 1, trajectory = 't0') =>
  truthOf({ labels, sequence: 0, trajectory: TrajectoryId.parse(trajectory) }, { by: 'person', reviewers })
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
})
