import { expect, it } from 'vitest'
import { Audit, type AuditDraw, type AuditLabel, CanaryId, TrajectoryId } from '../../core/index.ts'
import { judgeBeside } from './judge-beside.ts'

const label = (by: 'judge' | 'person', truth: number | null, withdrawnAt: number | null = null): AuditLabel => {
  return { tenant: 'default', draw: 'd', reviewer: by, by, truth, note: '', at: 1, withdrawnAt }
}
const drawOf = (i: number, labels: AuditLabel[]): AuditDraw => {
  return {
    id: `d${i}`,
    canary: CanaryId.parse('k'),
    sequence: i,
    trajectory: TrajectoryId.parse(`t${i}`),
    at: i,
    labels,
  }
}
const audit = Audit.parse({ by: 'person', share: 0.5, judge: { share: 1, model: 'm' } })
const both = (i: number, said: number, truth: number) => drawOf(i, [label('judge', said), label('person', truth)])

it('tells what a judge said beside what is true, of draws of which both are known', () => {
  const known = [both(0, 0.9, 1), both(1, 0.9, 0), both(2, 0.1, 0), both(3, 0.5, 1)]
  const others = [
    drawOf(4, [label('judge', 1)]),
    drawOf(5, [label('person', 1)]),
    drawOf(6, [label('judge', null), label('person', 1)]),
    drawOf(7, [label('judge', 1, 5), label('person', 1)]),
  ]
  const found = judgeBeside([...known, ...others], audit, 10)
  expect(found).toMatchObject({ n: 4, brier: 0.27, constantBrier: 0.25, bias: { mean: 0.1 } })
  expect(found?.bins.map(({ from, n, told, truth }) => [from, n, told, truth])).toEqual([
    [0, 1, 0.1, 0],
    [0.4, 1, 0.5, 1],
    [0.8, 2, 0.9, 0.5],
  ])
})

it('says nothing without a judge beside, or without a pair', () => {
  expect(judgeBeside([both(0, 1, 1)], { ...audit, judge: null }, 10)).toBeNull()
  expect(judgeBeside([both(0, 1, 1)], { ...audit, by: 'judge' }, 10)).toBeNull()
  expect(judgeBeside([drawOf(0, [label('judge', 1)])], audit, 10)).toBeNull()
})
