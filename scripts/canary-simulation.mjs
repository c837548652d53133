/** Simulated canaries for canary-evidence.mjs: a gate, sessions of both arms along the ramp, looks, an end. */

/** How far a canary came: what ended it and how many sessions it had seen by then, of which the candidate's. */
export function runCanary({ gate, law, next, rewardRange = [0, 1], lookAfter = 20, growth = 1.15 }) {
  const sessions = []
  let [step, inStep, candidates, nextLook] = [0, 0, 0, lookAfter]
  for (;;) {
    const share = gate.shares[step]
    const candidate = next() < share
    if (candidate) [inStep, candidates] = [inStep + 1, candidates + 1]
    sessions.push({
      trajectory: `s${sessions.length}`,
      arm: candidate ? 'candidate' : 'baseline',
      propensity: candidate ? share : 1 - share,
      guards: {},
      ...law({ candidate, next, at: sessions.length }),
    })
    if (sessions.length < nextLook) continue
    nextLook = Math.max(nextLook + lookAfter, Math.ceil(growth * nextLook))
    const verdict = gate.look({ sessions, step, sessionsInStep: inStep, rewardRange })
    if (verdict.action === 'hold') continue
    if (verdict.action === 'advance') [step, inStep] = [step + 1, 0]
    else return { action: verdict.action, candidates, sessions: sessions.length, share, verdict }
  }
}

/** What many would do: a z-test of two means at the usual bound, looked at again and again along the same ramp. */
export function peekingGate({ shares, sessionsPerStep, maxSessions }) {
  const sums = { candidate: [0, 0, 0], baseline: [0, 0, 0] }
  let read = 0
  return {
    shares,
    look({ sessions, step, sessionsInStep }) {
      for (; read < sessions.length; read++) {
        const { arm, reward } = sessions[read]
        if (reward === null) continue
        const sum = sums[arm]
        sums[arm] = [sum[0] + 1, sum[1] + reward, sum[2] + reward ** 2]
      }
      const [c, b] = [sums.candidate, sums.baseline].map(([n, sum, squares]) => ({
        n,
        mean: sum / n,
        error: (squares / n - (sum / n) ** 2) / (n - 1),
      }))
      const z = c.n < 30 || b.n < 30 ? 0 : (c.mean - b.mean) / Math.sqrt(c.error + b.error)
      if (z > 1.645) return { action: 'promote' }
      if (z < -1.645) return { action: 'roll-back' }
      if (step < shares.length - 1 && sessionsInStep >= sessionsPerStep) return { action: 'advance' }
      return { action: sessionsInStep >= maxSessions ? 'give-up' : 'hold' }
    },
  }
}

const draw = (probability) => (next) => Number(next() < probability)

/** Laws of A/A canaries: both arms earn the same, whatever the law does over time. */
export const EQUAL = [
  { name: '0/1, mean 0.1', law: ({ next }) => ({ reward: draw(0.1)(next) }) },
  { name: '0/1, mean 0.5', law: ({ next }) => ({ reward: draw(0.5)(next) }) },
  { name: '0/1, mean 0.9', law: ({ next }) => ({ reward: draw(0.9)(next) }) },
  {
    name: 'graded: solved less 0.02 a call',
    law: ({ next }) => ({ reward: 0.3 + 0.7 * draw(0.6)(next) - 0.02 * Math.floor(11 * next()) }),
  },
  {
    name: '0/1, mean 0.5, 30 % missing, neutral',
    law: ({ next }) => ({ reward: next() < 0.3 ? null : draw(0.5)(next) }),
    config: { missing: 'neutral' },
  },
  {
    name: '0/1, falling from 0.8 to 0.2 over 1,000 sessions',
    law: ({ next, at }) => ({ reward: draw(Math.max(0.2, 0.8 - 0.0006 * at))(next) }),
  },
  {
    name: '0/1, day and night: 0.7 and 0.3, 200 sessions each',
    law: ({ next, at }) => ({ reward: draw(at % 400 < 200 ? 0.7 : 0.3)(next) }),
  },
]

/** 0/1 rewards of mean `mean`, and `mean + gain` for the candidate. */
export const zeroOne =
  (mean, gain) =>
  ({ candidate, next }) => ({ reward: draw(candidate ? mean + gain : mean)(next) })
