import { describe, expect, it } from 'vitest'
import { Audit, CanaryId, type CanaryOutcome, rng, TrajectoryId, VersionId } from '../../core/index.ts'
import { replay } from '../replay.ts'
import { canaryGate } from './canary-gate.ts'
import { decideAgain } from './receipt.ts'

const audit = Audit.parse({ share: 0.5, by: 'person', maxLabels: 2_000 })
const gate = canaryGate({ shares: [0.5], sessionsPerStep: 20, audit, alphaHarm: 1e-9 })

/** Probabilities that the truth is 1 and that people thank, in the baseline's arm and in the candidate's. */
interface Law {
  readonly truth: readonly [number, number]
  readonly thanks: readonly [number, number]
}
const honest: Law = { truth: [0.5, 0.5], thanks: [0.4, 0.4] }
const pleases: Law = { truth: [0.5, 0.42], thanks: [0.4, 0.9] }

function sessionsOf({ truth, thanks }: Law, n = 600, life = 0): CanaryOutcome[] {
  const stream = rng('goodhart', n, life, ...truth, ...thanks)
  return Array.from({ length: n }, (_, i) => {
    const arm = stream.next() < 0.5 ? 'candidate' : 'baseline'
    const at = arm === 'candidate' ? 1 : 0
    const thanked = stream.next() < thanks[at]
    const drawn = stream.next() < audit.share
    const right = Number(stream.next() < truth[at])
    return {
      trajectory: TrajectoryId.parse(`s${i}`),
      arm,
      propensity: 0.5,
      reward: Number(thanked),
      guards: {},
      signals: { 'implicit/accepted': 0.5, ...(thanked ? { 'implicit/thanks': 1 } : {}) },
      audit: { probability: audit.share, drawn, settled: true, truth: drawn ? right : null },
    }
  })
}
const lookOf = (sessions: readonly CanaryOutcome[]) => ({
  sessions,
  step: 0,
  sessionsInStep: sessions.length,
  rewardRange: [0, 1] as const,
})
const lookAt = (sessions: readonly CanaryOutcome[], by = gate) => by.look(lookOf(sessions))
const receiptOf = (sessions: readonly CanaryOutcome[]) =>
  gate.makeReceipt({
    ...lookOf(sessions),
    agent: 'support',
    baseline: { system: VersionId.parse('v0') },
    candidate: { system: VersionId.parse('v1') },
    canary: CanaryId.parse('k'),
    admission: null,
  })
const share = (law: Law, lives: number) =>
  Array.from({ length: lives }, (_, life) => {
    const sessions = sessionsOf(law, 600, life)
    return [300, 450, 600].some((n) => lookAt(sessions.slice(0, n)).action === 'roll-back')
  }).filter(Boolean).length / lives

describe("Goodhart's law", () => {
  it('stops a candidate that pays and is no better, and names what paid', () => {
    const sessions = sessionsOf(pleases)
    const { action, reasons, evidence } = lookAt(sessions)
    expect(action).toBe('roll-back')
    expect(reasons[0]).toMatch(
      /^Goodhart's law: .*exceeds the truth's by more than 0.1: e-value .*implicit\/thanks by 0\.\d+\.$/,
    )
    expect(reasons[0]).not.toContain('accepted')
    expect(evidence['truth']).toMatchObject({
      overpaid: { bound: 20, paid: { 'implicit/thanks': expect.any(Number) } },
    })
    expect(replay(receiptOf(sessions))).toBe('reject')
  })

  it('stops one that pays and is worse, too', () => {
    expect(lookAt(sessionsOf({ ...pleases, truth: [0.5, 0.4] })).reasons[0]).toContain("Goodhart's law")
  })

  it('promotes what is shown to be better, however much it pays', () => {
    expect(lookAt(sessionsOf({ truth: [0.4, 0.8], thanks: [0.05, 0.95] })).action).toBe('promote')
  })

  it('leaves to the test of truth what is estimated to be better, and is liked even more', () => {
    const sessions = sessionsOf({ truth: [0.5, 0.58], thanks: [0.3, 0.9] })
    const { action, evidence } = lookAt(sessions)
    expect(evidence['truth']).toMatchObject({ overpaid: { most: expect.any(Number) } })
    expect(action).toBe('wait')
  })

  it('lets one go on whose reward rises as its truth does, or falls', () => {
    for (const law of [
      honest,
      { truth: [0.5, 0.56], thanks: [0.5, 0.56] },
      { truth: [0.5, 0.5], thanks: [0.5, 0.45] },
    ] as const) {
      expect(lookAt(sessionsOf(law)).action).toBe('wait')
    }
  })

  it('errs seldom where the reward is noise, and at most as often as it may where it gains just the margin more', {
    timeout: 120_000,
  }, () => {
    expect(share(honest, 100)).toBe(0)
    // 200 at 0.05: at most 18 with a probability of 0.99.
    expect(share({ truth: [0.5, 0.5], thanks: [0.4, 0.5] }, 200)).toBeLessThanOrEqual(18 / 200)
  })

  it('finds most that please', () => {
    expect(share({ truth: [0.5, 0.45], thanks: [0.4, 0.8] }, 60)).toBeGreaterThan(0.8)
  })

  it('what is missing counts for the candidate', () => {
    const untold = sessionsOf(pleases).map((session) =>
      session.audit?.drawn ? { ...session, audit: { ...session.audit, truth: null } } : session,
    )
    const unrewarded = sessionsOf(pleases).map((session) =>
      session.arm === 'candidate' && session.reward === 1 ? { ...session, reward: null } : session,
    )
    for (const sessions of [untold, unrewarded]) expect(lookAt(sessions).reasons.join()).not.toContain('Goodhart')
  })

  it('an earlier receipt, whose gate did not ask, replays to what it said; and null asks nothing', () => {
    const sessions = sessionsOf(pleases)
    const { gate: signed, ...receipt } = receiptOf(sessions)
    const { goodhart: _, ...config } = signed.config
    expect(decideAgain({ ...receipt, gate: { ...signed, config } })).toBe('need_more_evidence')
    expect(lookAt(sessions, canaryGate({ ...gate.config, goodhart: null })).action).toBe('wait')
  })
})
