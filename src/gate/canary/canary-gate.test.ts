import { describe, expect, it } from 'vitest'
import {
  CanaryId,
  type CanaryOutcome,
  type Receipt,
  ReceiptId,
  rng,
  TrajectoryId,
  VersionId,
} from '../../core/index.ts'
import { replay } from '../replay.ts'
import { canaryGate } from './canary-gate.ts'

interface Draw {
  readonly n: number
  readonly share?: number
  /** Probability of a reward of 1. */
  readonly baseline?: number
  readonly candidate?: number
  readonly seed?: string
}

/** Sessions with 0/1 rewards. */
function draw({ n, share = 0.5, baseline = 0.5, candidate = 0.5, seed = 'a' }: Draw): CanaryOutcome[] {
  const random = rng('canary-gate', seed)
  return Array.from({ length: n }, (_, i) => {
    const isCandidate = random.next() < share
    return {
      trajectory: TrajectoryId.parse(`session-${seed}-${i}`),
      arm: isCandidate ? 'candidate' : 'baseline',
      propensity: isCandidate ? share : 1 - share,
      reward: Number(random.next() < (isCandidate ? candidate : baseline)),
      guards: {},
    }
  })
}

const candidatesOf = (sessions: readonly CanaryOutcome[]) => sessions.filter(({ arm }) => arm === 'candidate').length
const gate = canaryGate({ shares: [0.1, 0.5, 1], sessionsPerStep: 20, maxSessions: 300 })
const lookAt = (sessions: readonly CanaryOutcome[], step = 1, g = gate) =>
  g.look({ sessions, step, sessionsInStep: candidatesOf(sessions), rewardRange: [0, 1] })
const ids = {
  agent: 'support',
  baseline: { model: VersionId.parse('v1') },
  candidate: { model: VersionId.parse('v2') },
  canary: CanaryId.parse('c1'),
  admission: null,
}
const receiptOf = (sessions: readonly CanaryOutcome[]) =>
  gate.makeReceipt({ ...ids, sessions, step: 1, sessionsInStep: candidatesOf(sessions), rewardRange: [0, 1] })

describe('look', () => {
  it('holds without sessions', () => {
    expect(lookAt([])).toMatchObject({ action: 'hold', decision: 'need_more_evidence' })
  })

  it('promotes what is much better, and rolls back what is much worse', () => {
    expect(lookAt(draw({ n: 400, candidate: 0.9 }))).toMatchObject({ action: 'promote', decision: 'promote' })
    expect(lookAt(draw({ n: 400, candidate: 0.1 }))).toMatchObject({ action: 'roll-back', decision: 'reject' })
  })

  it('advances when nothing speaks of harm, never past the last share below 1', () => {
    const sessions = draw({ n: 50, candidate: 0.6, baseline: 0.4 })
    expect(lookAt(sessions, 0).action).toBe('advance')
    expect(lookAt(sessions, 1).action).toBe('hold')
    expect(gate.shares).toEqual([0.1, 0.5])
  })

  it('gives up', () => {
    expect(lookAt(draw({ n: 700 }))).toMatchObject({ action: 'give-up', decision: 'hold' })
  })
})

describe('replay', () => {
  const promoted = receiptOf(draw({ n: 400, candidate: 0.9 }))
  const resigned: [string, (receipt: typeof promoted) => Receipt][] = [
    ['the decision', (r) => ({ ...r, decision: 'hold' })],
    ['a reward', (r) => ({ ...r, sessions: r.sessions.map((s, i) => (i === 0 ? { ...s, reward: 0.5 } : s)) })],
    ['the order', (r) => ({ ...r, sessions: r.sessions.toReversed() })],
    ['the margin', (r) => ({ ...r, gate: { ...r.gate, config: { ...r.gate.config, margin: -0.1 } } })],
    ['the canary', (r) => ({ ...r, canary: CanaryId.parse('c2') })],
    ['the admission', (r) => ({ ...r, admission: ReceiptId.parse('x') })],
  ]
  it('decides as the look did', () => {
    expect(replay(promoted)).toBe('promote')
    expect(replay(JSON.parse(JSON.stringify(promoted)))).toBe('promote')
  })
  it.each(resigned)('finds out that %s was changed', (_, change) => {
    expect(() => replay(change(promoted))).toThrow(expect.objectContaining({ code: 'gate/receipt-tampered' }))
  })
})
