import { describe, expect, it } from 'vitest'
import { type CanaryOutcome, rng, TrajectoryId } from '../../core/index.ts'
import { canaryGate } from './canary-gate.ts'
import type { CanaryConfig } from './config.ts'
import type { CanaryVerdict } from './look.ts'

// The small version of scripts/canary-evidence.mjs, seeded: the bounds are exceeded by chance once in a thousand.
const CANARIES = 200
/** 200 draws at 0.05 exceed this with probability below 0.001, and at 0.1 the other. */
const BOUND = 21
const BOUND_OF_BOTH = 34
const RAMP = { shares: [0.1, 0.5, 1], sessionsPerStep: 20, maxSessions: 150, promote: 'behaviour-only' as const }
const ids = Array.from({ length: 4000 }, (_, i) => TrajectoryId.parse(`session-${i}`))

type Law = (session: { candidate: boolean; at: number; next: () => number }) => number | null

/** Now and then another Parameter comes to serve otherwise: rewards of both arms jump. */
function changing(): Law {
  let mean = 0.5
  return ({ next }) => {
    if (next() < 0.02) mean = next()
    return Number(next() < mean)
  }
}

/** The verdicts that ended canaries, looked at again and again along the ramp. */
function verdicts(name: string, law: Law, config: Partial<CanaryConfig> = {}, count = CANARIES): CanaryVerdict[] {
  const stream = rng('canary-error-rates', name)
  const next = () => stream.next()
  const gate = canaryGate({ ...RAMP, ...config })
  return Array.from({ length: count }, () => {
    const sessions: CanaryOutcome[] = []
    let [step, sessionsInStep] = [0, 0]
    for (let nextLook = 30; ; ) {
      const share = gate.shares[step]!
      const candidate = next() < share
      if (candidate) sessionsInStep++
      sessions.push({
        trajectory: ids[sessions.length]!,
        arm: candidate ? 'candidate' : 'baseline',
        propensity: candidate ? share : 1 - share,
        reward: law({ candidate, at: sessions.length, next }),
        guards: {},
      })
      if (sessions.length < nextLook) continue
      nextLook = Math.ceil(1.3 * nextLook)
      const verdict = gate.look({ sessions, step, sessionsInStep, rewardRange: [0, 1] })
      if (verdict.action === 'advance') [step, sessionsInStep] = [step + 1, 0]
      else if (verdict.action !== 'wait') return verdict
    }
  })
}

const count = (all: readonly CanaryVerdict[], action: string) => all.filter((one) => one.action === action).length

describe('wrong promotions of A/A canaries stay within the binomial bound of alpha', () => {
  it.each<[string, Law, Partial<CanaryConfig>]>([
    ['0/1, mean 0.5', ({ next }) => Number(next() < 0.5), {}],
    ['graded', ({ next }) => next() * next(), {}],
    ['30 % missing', ({ next }) => (next() < 0.3 ? null : Number(next() < 0.5)), { missing: 'neutral' }],
    // Compared without regard to the share at the time, the candidate would seem worse: it comes when rewards are low.
    ['another Parameter changed in both arms, at random moments', changing(), {}],
    ['falling while the ramp goes up', ({ next, at }) => Number(next() < Math.max(0.2, 0.9 - 0.001 * at)), {}],
  ])('%s', (name, law, config) => {
    const all = verdicts(name, law, config)
    expect(count(all, 'promote')).toBeLessThanOrEqual(BOUND)
    expect(count(all, 'roll-back')).toBeLessThanOrEqual(BOUND_OF_BOTH)
    // Also if somebody had looked after every session.
    const gains = all.map(({ evidence }) => evidence.gain as { readonly most: number; readonly bound: number })
    expect(gains.filter(({ most, bound }) => most >= bound).length).toBeLessThanOrEqual(BOUND)
  })
})

it('sees what is there: a gain of 0.3 is promoted and a loss of 0.3 rolled back, nearly always', () => {
  const better = verdicts('better', ({ candidate, next }) => Number(next() < (candidate ? 0.7 : 0.4)), {}, 50)
  const worse = verdicts('worse', ({ candidate, next }) => Number(next() < (candidate ? 0.4 : 0.7)), {}, 50)
  expect(count(better, 'promote')).toBeGreaterThan(45)
  expect(count(worse, 'roll-back')).toBeGreaterThan(45)
})
