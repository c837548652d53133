import { describe, expect, it } from 'vitest'
import { Audit, CanaryId, type CanaryOutcome, ReceiptId, rng, TrajectoryId, VersionId } from '../../core/index.ts'
import { replay } from '../replay.ts'
import { canaryGate } from './canary-gate.ts'
import type { CanaryLook } from './look.ts'
import { decideAgain } from './receipt.ts'

const audit = Audit.parse({ share: 0.5, by: 'person', maxLabels: 400 })
const rules = { shares: [0.5], sessionsPerStep: 20, maxSessions: 100 }
const gate = canaryGate({ ...rules, audit })

interface Law {
  /** Probability that the truth is 1, by arm. */
  readonly truth: readonly [baseline: number, candidate: number]
  /** What people do, by arm. */
  readonly reward: readonly [baseline: number, candidate: number]
}
const [alike, pleases]: [Law, Law] = [
  { truth: [0.5, 0.5], reward: [0.5, 0.5] },
  { truth: [0.5, 0.5], reward: [0.4, 0.9] },
]

function sessionsOf({ truth, reward }: Law, n = 600): CanaryOutcome[] {
  const stream = rng('audited', n, ...truth, ...reward)
  return Array.from({ length: n }, (_, i) => {
    const arm = stream.next() < 0.5 ? 'candidate' : 'baseline'
    const of = (law: readonly [number, number]) => Number(stream.next() < law[arm === 'candidate' ? 1 : 0])
    const drawn = stream.next() < audit.share
    const judged = of(truth)
    return {
      trajectory: TrajectoryId.parse(`s${i}`),
      arm,
      propensity: 0.5,
      reward: of(reward),
      guards: {},
      audit: { probability: audit.share, drawn, settled: true, truth: drawn ? judged : null },
    }
  })
}
const lookOf = (sessions: readonly CanaryOutcome[]): CanaryLook => ({
  sessions,
  step: 0,
  sessionsInStep: sessions.filter(({ arm }) => arm === 'candidate').length,
  rewardRange: [0, 1],
})
const lookAt = (sessions: readonly CanaryOutcome[], by = gate) => by.look(lookOf(sessions))
const receiptOf = (sessions: readonly CanaryOutcome[], by = gate) =>
  by.makeReceipt({
    ...lookOf(sessions),
    agent: 'support',
    baseline: { system: VersionId.parse('v0') },
    candidate: { system: VersionId.parse('v1') },
    canary: CanaryId.parse('k'),
    admission: null,
  })

describe('with an audit, truth decides', () => {
  it('promotes what is right more often, though people do not show it', () => {
    const sessions = sessionsOf({ truth: [0.4, 0.8], reward: [0.5, 0.5] })
    const verdict = lookAt(sessions)
    expect(verdict).toMatchObject({ action: 'promote', evidence: { basis: 'audited' } })
    expect(verdict.reasons[0]).toMatch(/^The candidate's truth is higher .* audited sessions, \d+ of the candidate/)
    expect(replay(receiptOf(sessions))).toBe('promote')
  })

  it('does not promote what people take and is no better: behaviour alone would have', () => {
    const sessions = sessionsOf(pleases)
    expect(lookAt(sessions).action).toBe('wait')
    const behaviour = canaryGate({ ...rules, promote: 'behaviour-only' })
    expect(lookAt(sessions, behaviour)).toMatchObject({ action: 'promote', evidence: { basis: 'behaviour-only' } })
    expect(lookAt(sessions, behaviour).reasons.join(' ')).toContain('Evidence: behaviour-only.')
  })

  it('takes back what is right less often, though people take it', () => {
    const { action, reasons } = lookAt(sessionsOf({ truth: [0.8, 0.3], reward: [0.5, 0.6] }))
    expect(action).toBe('roll-back')
    expect(reasons[0]).toMatch(/^The candidate's truth is lower/)
  })

  it('lets a judge alone promote nothing, but where its owner takes that risk, and its receipt says so', () => {
    const sessions = sessionsOf({ truth: [0.4, 0.8], reward: [0.5, 0.5] })
    const alone = { ...rules, audit: { ...audit, by: 'judge' as const } }
    const verdict = lookAt(sessions, canaryGate(alone))
    expect(verdict).toMatchObject({ action: 'wait', evidence: { basis: null } })
    expect(verdict.reasons.join(' ')).toContain('A judge alone promotes nothing')
    const risking = lookAt(sessions, canaryGate({ ...alone, promote: 'behaviour-only' }))
    expect(risking).toMatchObject({ action: 'promote', evidence: { basis: 'behaviour-only' } })
    expect(risking.reasons.join(' ')).toContain('A judge alone said')
    expect(replay(receiptOf(sessions, canaryGate({ ...alone, promote: 'behaviour-only' })))).toBe('promote')
  })

  describe('by a judge alone', () => {
    const alone = { ...rules, audit: { ...audit, by: 'judge' as const } }
    const admission = ReceiptId.parse('0123456789abcdef')
    const admitted = (sessions: readonly CanaryOutcome[], by: typeof gate) =>
      by.makeReceipt({
        ...lookOf(sessions),
        agent: 'support',
        baseline: { system: VersionId.parse('v0') },
        candidate: { system: VersionId.parse('v1') },
        canary: CanaryId.parse('k'),
        admission,
      })
    /** Pleases the judge, and nobody else. */
    const flatters = sessionsOf({ truth: [0.4, 0.8], reward: [0.5, 0.5] })

    it('what passed held-out tasks is promoted by what people do, and never by the judge', () => {
      const held = admitted(flatters, canaryGate(alone))
      expect(held.decision).toBe('need_more_evidence')
      expect(held.reasons.join(' ')).toMatch(/The judge's word: .* of a gain is/)
      expect(held.reasons.join(' ')).not.toMatch(/truth/i)
      const liked = admitted(
        sessionsOf({ truth: [0.5, 0.5], reward: [0.3, 0.8] }),
        canaryGate({ ...alone, goodhart: null }),
      )
      expect(liked).toMatchObject({ decision: 'promote', evidence: { basis: 'held-out' } })
      expect(liked.reasons[0]).toMatch(/^The candidate's reward is higher/)
      expect(replay(liked)).toBe('promote')
    })

    it('its word decides where the owner takes that risk, and the receipt says so', () => {
      const risked = admitted(flatters, canaryGate({ ...alone, promote: 'behaviour-only' }))
      expect(risked).toMatchObject({ decision: 'promote', evidence: { basis: 'behaviour-only' } })
      expect(risked.reasons[0]).toMatch(/^The judge's word of the candidate is higher/)
      expect(risked.reasons.join(' ')).toContain('A judge alone said')
      expect(replay(risked)).toBe('promote')
    })

    it('an earlier receipt, of which its word decided, replays to what it said', () => {
      const { gate: signed, ...receipt } = admitted(flatters, canaryGate({ ...alone, besideJudge: 'judge' }))
      expect(receipt.decision).toBe('promote')
      const { besideJudge: _, ...config } = signed.config
      expect(decideAgain({ ...receipt, gate: { ...signed, config } })).toBe('promote')
    })

    it('takes back what it finds worse, by its word', () => {
      const { action, reasons } = lookAt(sessionsOf({ truth: [0.8, 0.3], reward: [0.5, 0.6] }), canaryGate(alone))
      expect(action).toBe('roll-back')
      expect(reasons[0]).toMatch(/^The judge's word of the candidate is lower/)
    })
  })

  it('lets behaviour stop a candidate', () => {
    expect(lookAt(sessionsOf({ truth: [0.5, 0.6], reward: [0.9, 0.3] }))).toMatchObject({ action: 'roll-back' })
  })

  it('waits at the first draw that nobody has judged: what comes after it does not count yet', () => {
    const sessions = sessionsOf({ truth: [0.2, 0.9], reward: [0.5, 0.5] })
    const first = sessions.findIndex(({ audit: one }) => one?.drawn)
    const waiting = sessions.map((session, i) =>
      i === first && session.audit ? { ...session, audit: { ...session.audit, settled: false, truth: null } } : session,
    )
    expect(lookAt(sessions).action).toBe('promote')
    const verdict = lookAt(waiting)
    expect(verdict).toMatchObject({ action: 'wait', evidence: { truth: { labels: { candidate: 0 }, waiting: 1 } } })
    expect(verdict.reasons.join(' ')).toContain('1 that were drawn wait for their truth')
  })

  it('counts what cannot be told against the candidate, and never as a harm', () => {
    const sessions = sessionsOf({ truth: [0.4, 0.8], reward: [0.5, 0.5] })
    const untold = sessions.map((session) =>
      session.arm === 'candidate' && session.audit ? { ...session, audit: { ...session.audit, truth: null } } : session,
    )
    const verdict = lookAt(untold)
    expect(verdict.action).toBe('wait')
    expect(verdict.reasons.join(' ')).toMatch(/Of \d+ it cannot be told, which counts against the candidate/)
  })

  it('is given up after as many truths as it may cost, however many sessions there were', () => {
    expect(lookAt(sessionsOf(alike, 600)).action).toBe('wait')
    const verdict = lookAt(sessionsOf(alike, 880))
    expect(verdict.action).toBe('end')
    expect(verdict.reasons[0]).toMatch(/^4\d\d sessions were audited and showed neither/)
  })

  describe('on a ramp', () => {
    const ramp = canaryGate({ ...rules, shares: [0.5, 0.9], tolerance: 0.1, audit: { ...audit, maxLabels: 20 } })
    /** A little worse in truth, which people do not show, and not shown to be a harm. */
    const sessions = sessionsOf({ truth: [0.8, 0.5], reward: [0.5, 0.6] }, 60)

    it('waits where truth speaks of harm, and is given up when its labels are spent', () => {
      const { action, reasons } = lookAt(sessions, canaryGate({ ...ramp.config, audit }))
      expect(action).toBe('wait')
      expect(reasons.join(' ')).toMatch(/The estimated difference of truth is -0\.\d+: the ramp waits\./)
      expect(lookAt(sessions, ramp).action).toBe('end')
      const alikeInTruth = sessionsOf({ truth: [0.5, 0.6], reward: [0.5, 0.6] }, 60)
      expect(lookAt(alikeInTruth, ramp).action).toBe('advance')
    })

    it('an earlier receipt, whose ramp did not ask truth, replays to what it said', () => {
      const { gate: signed, ...receipt } = receiptOf(sessions, ramp)
      expect(receipt.decision).toBe('hold')
      expect(decideAgain({ ...receipt, gate: signed })).toBe('hold')
      const { cautions: _, ...config } = signed.config
      expect(decideAgain({ ...receipt, gate: { ...signed, config } })).toBe('need_more_evidence')
    })
  })

  it('tells how behaviour goes with the truth', () => {
    const told = sessionsOf(alike).map((session) => ({ ...session, reward: session.audit?.truth ?? 0.5 }))
    expect(lookAt(told).evidence).toMatchObject({ truth: { correlation: 1 } })
  })
})

function unaudited(session: CanaryOutcome): CanaryOutcome {
  const { audit: _, ...rest } = session
  return rest
}

it('ends where all the sessions that still come are of people who had been drawn: no label comes of them', () => {
  const sessions = sessionsOf(alike, 600).map(
    (session, i): CanaryOutcome => (i < 20 ? session : { ...unaudited(session), propensity: 1 }),
  )
  const drawn = sessions.slice(0, 20).filter(({ arm }) => arm === 'candidate').length
  const again = sessions.filter(({ arm, propensity }) => arm === 'candidate' && propensity === 1).length
  const look = { ...lookOf(sessions), sessionsInStep: drawn }
  expect(gate.look({ ...look, repeatsInStep: rules.maxSessions - 1 }).action).toBe('wait')
  const verdict = gate.look({ ...look, repeatsInStep: again })
  expect(verdict.action).toBe('end')
  expect(verdict.reasons[0]).toMatch(/had been drawn before: take larger "shares", or "assign": "session"/)
})

describe('without an audit', () => {
  const better = sessionsOf({ truth: [0.5, 0.5], reward: [0.3, 0.9] }, 160).map((session) => unaudited(session))

  it('behaviour promotes nothing, unless its owner takes the risk; the reason says what to do', () => {
    const verdict = lookAt(better, canaryGate(rules))
    expect(verdict).toMatchObject({ action: 'wait', evidence: { basis: null } })
    expect(verdict.reasons.join(' ')).toMatch(/alone promotes nothing.*set "audit".*"promote": "behaviour-only"/)
  })

  it('behaviour promotes what passed held-out tasks before', () => {
    const verdict = canaryGate(rules).look({ ...lookOf(better), admitted: true })
    expect(verdict).toMatchObject({ action: 'promote', evidence: { basis: 'held-out' } })
  })

  it('an earlier receipt, which knows of no audits, replays to what it said', () => {
    const { gate: signed, ...receipt } = receiptOf(better, canaryGate({ ...rules, promote: 'behaviour-only' }))
    const { audit: _, promote: __, ...config } = signed.config
    expect(decideAgain({ ...receipt, gate: { ...signed, config } })).toBe('promote')
    expect(decideAgain({ ...receipt, gate: { ...signed, config: { ...config, promote: 'truth' } } })).not.toBe(
      'promote',
    )
  })

  it('refuses both: where sessions are audited the audit decides', () => {
    expect(() => canaryGate({ ...rules, audit, promote: 'behaviour-only' })).toThrow('the audit decides')
  })
})
