import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AuditDraw, type AuditLabel, CanaryId, TrajectoryId } from '../../core/index.ts'
import { UpstreamError } from '../../model/openai/index.ts'
import { asking, type AskingParts } from './asking.ts'
import type { AuditVerifier } from './verifier.ts'

let now: number
let labels: Pick<AuditLabel, 'draw' | 'truth'>[]
let problems: unknown[]
beforeEach(() => {
  now = 0
  labels = []
  problems = []
})
afterEach(() => {
  expect(labels.length).toBeLessThanOrEqual(draws.length)
})

const draws: readonly AuditDraw[] = Array.from({ length: 6 }, (_, sequence) => ({
  id: `d${sequence}`,
  canary: CanaryId.parse('k'),
  sequence,
  trajectory: TrajectoryId.parse(`t${sequence}`),
  at: 0,
  labels: [],
}))
const store = {
  trajectories: { get: async () => ({ trajectory: { nodes: [] } }) },
  signals: { of: async () => [] },
  audits: {
    label: async ({ draw, truth }: AuditLabel) => {
      labels.push({ draw, truth })
      return 'recorded'
    },
  },
} as unknown as AskingParts['store']

const patienceMs = 3_600_000
function judging(judge: AuditVerifier) {
  const limits = { timeoutMs: 20, tries: 3, concurrency: 4 }
  const onProblem = (error: unknown) => void problems.push(error)
  const one = asking(
    { store, tenant: 'default', clock: { now: () => now }, limits, patienceMs, onProblem },
    'judge',
    judge,
  )
  return async () => {
    one.begin(draws.filter(({ id }) => !labels.some(({ draw }) => draw === id)))
    await one.idle()
  }
}
const failure = (kind: 'busy' | 'unreachable' | 'broken' | 'refused', more: object = {}) =>
  new UpstreamError({ code: 'model/upstream-own-key', kind, upstream: 'judge', message: 'no', hint: '', ...more })

describe('a judge that is out', () => {
  it.each<[string, () => unknown]>([
    ['is busy', () => Promise.reject(failure('busy', { status: 429 }))],
    ['cannot be reached', () => Promise.reject(failure('unreachable'))],
    ['takes no key', () => Promise.reject(failure('broken', { status: 401 }))],
    ['refuses the key', () => Promise.reject(failure('refused', { status: 403 }))],
    ['never answers', () => new Promise<never>(() => {})],
  ])('is asked again, less and less often, where it %s: for so long no session’s word is missing', async (_, out) => {
    let asked = 0
    let back = false
    const look = judging(() => {
      asked++
      return back ? 1 : (out() as Promise<never>)
    })
    // A look each 5 seconds, for half of its patience.
    for (; now < patienceMs / 2; now += 5_000) await look()
    expect(labels).toEqual([])
    expect(asked).toBeLessThan(60)
    expect(problems.length).toBeGreaterThan(3)
    expect(problems.length).toBeLessThan(15)
    back = true
    for (; now < patienceMs && labels.length < draws.length; now += 5_000) await look()
    expect(labels.map(({ truth }) => truth)).toEqual([1, 1, 1, 1, 1, 1])
  })

  it('is given up for a session when patience is over, after the usual tries', async () => {
    const look = judging(() => Promise.reject(failure('busy')))
    for (; now < patienceMs; now += 5_000) await look()
    expect(labels).toEqual([])
    for (; now < 2 * patienceMs && labels.length < 4; now += 5_000) await look()
    expect(labels.slice(0, 4).map(({ truth }) => truth)).toEqual([null, null, null, null])
  })

  it.each<[string, unknown]>([
    ['the request', failure('refused', { status: 400 })],
    ['anything', new Error('no')],
  ])('is not what refuses %s: that is of the session', async (_, error) => {
    const look = judging(() => Promise.reject(error as Error))
    for (let i = 0; i < 6; i++) await look()
    expect(labels.map(({ truth }) => truth)).toEqual([null, null, null, null, null, null])
    expect(problems).toHaveLength(18)
  })
})
