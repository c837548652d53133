import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CanaryId,
  type CanaryOutcome,
  type CanaryReceipt,
  contentHash,
  Json,
  ReceiptId,
  rng,
  TrajectoryId,
  VersionId,
} from '../../core/index.ts'
import { replay } from '../replay.ts'
import { canaryGate } from './canary-gate.ts'
import type { CanaryLook } from './look.ts'

type Also = (session: { candidate: boolean; random: () => number }) => Partial<CanaryOutcome>

interface Draw {
  readonly n: number
  readonly share?: number
  /** Probability of a reward of 1. */
  readonly baseline?: number
  readonly candidate?: number
  /** What else a session shows. */
  readonly also?: Also
}

/** Sessions with 0/1 rewards. */
function draw({ n, share = 0.5, baseline = 0.5, candidate = 0.5, also = () => ({}) }: Draw): CanaryOutcome[] {
  const stream = rng('canary-gate', n, share, baseline, candidate)
  const random = () => stream.next()
  return Array.from({ length: n }, (_, i) => {
    const isCandidate = random() < share
    return {
      trajectory: TrajectoryId.parse(`session-${i}`),
      arm: isCandidate ? 'candidate' : 'baseline',
      propensity: isCandidate ? share : 1 - share,
      reward: Number(random() < (isCandidate ? candidate : baseline)),
      guards: {},
      ...also({ candidate: isCandidate, random }),
    }
  })
}

const candidatesOf = (sessions: readonly CanaryOutcome[]) => sessions.filter(({ arm }) => arm === 'candidate').length
const inputOf = (sessions: readonly CanaryOutcome[], step = 1): CanaryLook => ({
  sessions,
  step,
  sessionsInStep: candidatesOf(sessions),
  rewardRange: [0, 1],
})
const configuration = {
  shares: [0.1, 0.5, 1],
  sessionsPerStep: 20,
  maxSessions: 300,
  promote: 'behaviour-only' as const,
}
const gate = canaryGate(configuration)
const lookAt = (sessions: readonly CanaryOutcome[], step = 1, by = gate) => by.look(inputOf(sessions, step))
const guarded = canaryGate({ ...configuration, guards: { brokenCalls: { tolerance: 0.05, range: [0, 1] } } })
const broken =
  (rate: number): Also =>
  ({ candidate, random }) => ({ guards: { brokenCalls: Number(random() < (candidate ? rate : 0.05)) } })

describe('look', () => {
  it('holds without sessions', () => {
    expect(lookAt([])).toMatchObject({ action: 'wait', decision: 'need_more_evidence' })
  })

  it('promotes what is shown to be better, at whatever step', () => {
    const verdict = lookAt(draw({ n: 400, candidate: 0.9 }), 0)
    expect(verdict).toMatchObject({ action: 'promote', decision: 'promote' })
    expect(verdict.reasons[0]).toMatch(/higher than the baseline's by more than 0: e-value [\d.e+]+, 20 shows it/)
  })

  it('rolls back what is shown to be worse, also when it got better since', () => {
    const worse = draw({ n: 200, candidate: 0.1 })
    const since = draw({ n: 600, candidate: 1, baseline: 0 }).map((s, i) => ({
      ...s,
      trajectory: TrajectoryId.parse(`later-${i}`),
    }))
    expect(lookAt(worse)).toMatchObject({ action: 'roll-back', decision: 'reject' })
    expect(lookAt([...worse, ...since]).action).toBe('roll-back')
  })

  it('rolls back for a guard that it names, though the reward is better', () => {
    const verdict = lookAt(draw({ n: 300, candidate: 0.8, also: broken(0.6) }), 1, guarded)
    expect(verdict.action).toBe('roll-back')
    expect(verdict.reasons[0]).toMatch(/^The guard brokenCalls is higher than the baseline's by more than 0.05/)
    expect(lookAt(draw({ n: 300, candidate: 0.8, also: broken(0.05) }), 1, guarded).action).toBe('promote')
  })

  it('clips guards to their range: one wild session decides nothing', () => {
    const wild: Also = ({ candidate }) => ({ guards: { brokenCalls: candidate ? 1e9 : 1 } })
    expect(lookAt(draw({ n: 300, also: wild }), 1, guarded).evidence).toMatchObject({
      guards: { brokenCalls: { difference: 0 } },
    })
  })

  it('does not promote before a guard was measured', () => {
    const verdict = lookAt(draw({ n: 300, candidate: 0.9 }), 1, guarded)
    expect(verdict.action).not.toBe('promote')
    expect(verdict.reasons.join()).toMatch(/brokenCalls was measured in 0.0 % of the candidate's sessions/)
  })

  it('advances when nothing speaks of harm, never past the last share below 1', () => {
    const sessions = draw({ n: 50, candidate: 0.6, baseline: 0.4 })
    expect(lookAt(sessions, 0).action).toBe('advance')
    expect(lookAt(sessions, 1).action).toBe('wait')
    expect(gate.shares).toEqual([0.1, 0.5])
  })

  it('holds the ramp while something speaks of harm, and says what', () => {
    const verdict = lookAt(draw({ n: 50, candidate: 0.4, baseline: 0.6 }), 0)
    expect(verdict.action).toBe('wait')
    expect(verdict.reasons[0]).toMatch(/^The estimated difference of rewards is -0\.\d+: the ramp waits/)
  })

  it('waits for the sessions of the step, however many there were before', () => {
    const sessions = draw({ n: 50, candidate: 0.6, baseline: 0.4 })
    expect(gate.look({ ...inputOf(sessions, 0), sessionsInStep: 19 }).action).toBe('wait')
  })

  it('gives up after the sessions that a step may have', () => {
    expect(lookAt(draw({ n: 700 }))).toMatchObject({ action: 'end', decision: 'hold' })
  })

  it('is not moved by sessions that had no baseline beside them', () => {
    const alone = draw({ n: 200, share: 1, candidate: 1 }).map((s, i) => ({
      ...s,
      trajectory: TrajectoryId.parse(`alone-${i}`),
    }))
    const sessions = draw({ n: 30 })
    expect(lookAt([...alone, ...sessions]).evidence.gain).toEqual(lookAt(sessions).evidence.gain)
  })

  it('does not depend on the unit or the zero of rewards', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.constantFrom(0.3, 0.5, 0.8), (n, candidate) => {
        const sessions = draw({ n, candidate })
        const scaled = sessions.map((s) => ({ ...s, reward: s.reward === null ? null : 4 * s.reward - 2 }))
        const verdict = gate.look({ ...inputOf(scaled), rewardRange: [-2, 2] })
        expect(verdict.action).toBe(lookAt(sessions).action)
        expect(verdict.evidence.gain).toEqual(lookAt(sessions).evidence.gain)
      }),
    )
  })

  it('reaches its bound by the sessions alone: a later look at the same ones says the same', () => {
    const sessions = draw({ n: 120, candidate: 0.7 })
    expect(lookAt(sessions)).toEqual(lookAt(structuredClone(sessions)))
  })
})

describe('missing rewards', () => {
  const worst = gate
  const neutral = canaryGate({ ...configuration, missing: 'neutral' })
  const lost: Also = ({ random }) => (random() < 0.3 ? { reward: null } : {})

  it('count against the candidate where a gain is to be shown', () => {
    const sessions = draw({ n: 700, candidate: 0.75, also: lost })
    expect(lookAt(sessions, 1, worst).action).toBe('end')
    expect(lookAt(sessions, 1, worst).reasons.at(-1)).toMatch(/of the rewards are missing and count against/)
    expect(lookAt(sessions, 1, neutral).action).toBe('promote')
  })

  it('show no harm by being missing at random', () => {
    expect(lookAt(draw({ n: 700, also: lost }), 1, worst).action).toBe('end')
  })

  it('take a candidate back that loses more of them than the baseline does', () => {
    const hiding: Also = ({ candidate, random }) => (candidate && random() < 0.3 ? { reward: null } : {})
    const verdict = lookAt(draw({ n: 300, candidate: 0.9, also: hiding }), 1, neutral)
    expect(verdict.action).toBe('roll-back')
    expect(verdict.reasons[0]).toMatch(/^The guard missing is higher/)
  })

  it('are no way to a gain: who hides failures shows none, even where a tenth more may be missing', () => {
    const hiding: Also = ({ candidate, random }) => {
      const reward = Number(random() < 0.5)
      return { reward: candidate && reward === 0 && random() < 0.4 ? null : reward }
    }
    const sessions = draw({ n: 1500, also: hiding })
    const rules = { ...configuration, missing: 'neutral', missingTolerance: 0.1, maxSessions: 2000 } as const
    const gainOf = (by: ReturnType<typeof canaryGate>) =>
      by.look(inputOf(sessions)).evidence['gain'] as { most: number; bound: number }
    const before = gainOf(canaryGate({ ...rules, excess: 'candidate' }))
    expect(before.most).toBeGreaterThan(before.bound)
    const now = gainOf(canaryGate(rules))
    expect(now.most).toBeLessThan(now.bound)
  })

  it('that the baseline hides take no candidate back', () => {
    const hiding: Also = ({ candidate, random }) => {
      const reward = Number(random() < 0.5)
      return { reward: !candidate && reward === 0 && random() < 0.5 ? null : reward }
    }
    const sessions = draw({ n: 1000, also: hiding })
    const before = lookAt(sessions, 1, canaryGate({ ...configuration, excess: 'candidate' }))
    expect(before.action).toBe('roll-back')
    const verdict = lookAt(sessions, 1, canaryGate({ ...configuration, maxSessions: 1000 }))
    expect(verdict.action).toBe('wait')
    expect(verdict.reasons).toContainEqual(expect.stringMatching(/^The baseline misses more rewards/))
  })
})

describe('a guard on a rise', () => {
  const watching = canaryGate({ ...configuration, maxSessions: 2000, guards: { seconds: { relative: 0.5 } } })
  const slower =
    (factor: number, unit: number): Also =>
    ({ candidate, random }) => ({ guards: { seconds: unit * -Math.log(1 - random()) * (candidate ? factor : 1) } })

  it.each([1e-3, 1, 1e5])('takes back what takes three times as long, whatever takes long there: %d', (unit) => {
    const verdict = lookAt(draw({ n: 300, also: slower(3, unit) }), 1, watching)
    expect(verdict.action).toBe('roll-back')
    expect(verdict.reasons[0]).toMatch(/^The guard seconds is higher than the baseline's by more than 50.0 %/)
    expect(verdict).toEqual(lookAt(draw({ n: 300, also: slower(3, unit) }), 1, watching))
  })

  it('lets pass what it tolerates', () => {
    for (const factor of [0.1, 1, 1.4]) {
      expect(lookAt(draw({ n: 1000, also: slower(factor, 20) }), 1, watching).action).toBe('wait')
    }
  })

  it('takes back what is seldom very slow, and says so of its tail', () => {
    const seldom: Also = ({ candidate, random }) => ({
      guards: { seconds: -Math.log(1 - random()) * (candidate && random() < 0.15 ? 100 : 1) },
    })
    const sessions = draw({ n: 1000, also: seldom })
    const verdict = lookAt(sessions, 1, watching)
    expect(verdict.action).toBe('roll-back')
    expect(verdict.reasons[0]).toMatch(/^The guard seconds\/tail is higher than the baseline's by more than 50.0 %/)
    expect(lookAt(sessions, 1, canaryGate({ ...watching.config, tails: false })).action).toBe('wait')
  })

  it('is not blinded by one wild session, nor by zeros', () => {
    const sessions = draw({ n: 400, also: slower(3, 1) })
    const wild = [{ ...sessions[0]!, guards: { seconds: 1e12 } }, ...sessions.slice(1)]
    const zeros = [{ ...sessions[0]!, guards: { seconds: 0 } }, ...sessions.slice(1)]
    for (const seen of [wild, zeros]) expect(lookAt(seen, 1, watching).action).toBe('roll-back')
    const nothing = sessions.map((one) => ({ ...one, guards: { seconds: 0 } }))
    expect(lookAt(nothing, 1, watching).action).toBe('wait')
  })
})

describe('configuration', () => {
  it.each([
    ['shares of 1 only', { shares: [1] }, /there is no baseline to compare with/],
    ['shares that fall', { shares: [0.5, 0.1] }, /shares must rise/],
    ['no shares', { shares: [] }, /shares/],
    ['a guard that is built in', { guards: { missing: { range: [0, 1] } } }, /set missingTolerance/],
    ['a neutral gate without its guard', { missing: 'neutral', missingTolerance: 0.5 }, /at most 0.1/],
    ['a margin that lets pass what is not tolerated', { margin: -0.1 }, /is at least as large/],
    ['an unknown key', { colour: 'red' }, /colour/],
  ])('refuses %s', (_, config, message) => {
    expect(() => canaryGate(config as object)).toThrow(expect.objectContaining({ code: 'gate/config' }))
    expect(() => canaryGate(config as object)).toThrow(message)
  })

  it('makes an equal gate from the configuration that a gate shows', () => {
    expect(canaryGate(guarded.config).config).toEqual(guarded.config)
  })
})

describe('what cannot be decided from is refused', () => {
  const sessions = draw({ n: 3 })
  const first = sessions.slice(0, 1)
  it.each<[string, Partial<CanaryLook>, string]>([
    ['a session twice', { sessions: [...sessions, ...first] }, 'gate/duplicate-session'],
    ['a reward out of range', { rewardRange: [0.1, 0.2] }, 'gate/score-out-of-range'],
    ['a range that is none', { rewardRange: [1, 1] }, 'gate/reward-range'],
    ['a step with the whole of the sessions', { step: 2 }, 'gate/no-such-step'],
    ['half a step', { step: 0.5 }, 'gate/no-such-step'],
  ])('%s', (_, change, code) => {
    expect(() => gate.look({ ...inputOf(sessions), ...change })).toThrow(expect.objectContaining({ code }))
  })

  it('a margin as large as the range of rewards', () => {
    const wide = canaryGate({ ...configuration, margin: -1, tolerance: 1 })
    expect(() => wide.look(inputOf(sessions))).toThrow(expect.objectContaining({ code: 'gate/margin-out-of-range' }))
  })
})

describe('replay', () => {
  const receiptOf = (sessions: readonly CanaryOutcome[], step = 1, by = gate) =>
    by.makeReceipt({
      ...inputOf(sessions, step),
      agent: 'support',
      baseline: { model: VersionId.parse('v1') },
      candidate: { model: VersionId.parse('v2') },
      canary: CanaryId.parse('c1'),
      admission: null,
    })
  const promoted = receiptOf(draw({ n: 400, candidate: 0.9 }))

  const anySession = fc.record({
    arm: fc.constantFrom('baseline' as const, 'candidate' as const),
    share: fc.constantFrom(0.1, 0.5),
    reward: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 9 }),
    broken: fc.option(fc.nat(2), { freq: 9 }),
  })
  const anySessions = fc.array(anySession, { maxLength: 80 }).map((rows) =>
    rows.map(
      ({ arm, share, reward, broken: calls }, i): CanaryOutcome => ({
        trajectory: TrajectoryId.parse(`s${i}`),
        arm,
        propensity: arm === 'candidate' ? share : 1 - share,
        reward,
        guards: calls === null ? {} : { brokenCalls: calls },
      }),
    ),
  )

  it('makes the decision of the look again, also after a round trip through JSON text', () => {
    fc.assert(
      fc.property(anySessions, fc.constantFrom(0, 1), (sessions, step) => {
        const receipt = receiptOf(sessions, step, guarded)
        const verdict = lookAt(sessions, step, guarded)
        expect(receipt).toMatchObject({ decision: verdict.decision, reasons: verdict.reasons })
        expect(replay(receipt)).toBe(verdict.decision)
        expect(replay(JSON.parse(JSON.stringify(receipt)))).toBe(verdict.decision)
      }),
    )
    expect(replay(promoted)).toBe('promote')
  })

  it.each<[string, (receipt: CanaryReceipt) => CanaryReceipt]>([
    ['the decision', (r) => ({ ...r, decision: 'hold' })],
    ['a reward', (r) => ({ ...r, sessions: r.sessions.map((s, i) => (i === 0 ? { ...s, reward: 0.5 } : s)) })],
    ['a propensity', (r) => ({ ...r, sessions: r.sessions.map((s) => ({ ...s, propensity: 0.2 })) })],
    ['the order', (r) => ({ ...r, sessions: r.sessions.toReversed() })],
    ['the margin', (r) => ({ ...r, gate: { ...r.gate, config: { ...r.gate.config, margin: -0.1 } } })],
    ['the canary', (r) => ({ ...r, canary: CanaryId.parse('c2') })],
    ['the admission', (r) => ({ ...r, admission: ReceiptId.parse('x') })],
    ['the evidence', (r) => ({ ...r, evidence: {} })],
  ])('finds out that %s was changed', (_, change) => {
    expect(() => replay(change(promoted))).toThrow(expect.objectContaining({ code: 'gate/receipt-tampered' }))
  })

  const resigned = ({ id: _id, ...body }: CanaryReceipt): CanaryReceipt => ({
    ...body,
    id: ReceiptId.parse(contentHash(Json.parse(body))),
  })

  it('makes the decision of receipts from before people had arms and both directions were tested', () => {
    const hiding: Also = ({ candidate, random }) => {
      const reward = Number(random() < 0.5)
      return { reward: !candidate && reward === 0 && random() < 0.5 ? null : reward }
    }
    const sessions = draw({ n: 1000, also: hiding })
    const receipt = receiptOf(sessions, 1, canaryGate({ ...configuration, excess: 'candidate', maxSessions: 1000 }))
    const { people: _, excess: __, ...config } = receipt.gate.config
    expect(receipt.decision).toBe('reject')
    expect(replay(resigned({ ...receipt, gate: { ...receipt.gate, config } }))).toBe('reject')
    expect(lookAt(sessions, 1, canaryGate({ ...configuration, maxSessions: 1000 })).decision).toBe('need_more_evidence')
  })

  it('finds out a decision that its sessions do not lead to, though its hash is right', () => {
    const forged = resigned({ ...receiptOf(draw({ n: 60 })), decision: 'promote' })
    expect(() => replay(forged)).toThrow(expect.objectContaining({ code: 'gate/receipt-contradicted' }))
  })

  it('refuses a receipt of live sessions that another gate made', () => {
    const other = resigned({ ...promoted, gate: { ...promoted.gate, name: 'paired' } })
    expect(() => replay(other)).toThrow(expect.objectContaining({ code: 'gate/receipt-of-unknown-gate' }))
  })
})
