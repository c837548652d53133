/** Simulated canaries for canary-evidence.mjs: a gate, sessions of both arms along the ramp, looks, an end. */
import { PeopleSeen } from '../dist/release/people.js'
import { Trust } from '../dist/reward/index.js'

/** Each session is drawn by itself. */
const eachSession = ({ share, next }) => {
  const candidate = next() < share
  return { candidate, propensity: candidate ? share : 1 - share }
}

/**
 * People who come again and again, some much oftener than others, and of whom most are nearly always content or nearly never.
 * @param drawn what gets an arm: `person` as the gate counts them, `person-as-sessions`: people whose sessions are all taken
 * for random, or `session`.
 */
export function crowd({ people, drawn }) {
  const [known, seen] = [new Map(), new PeopleSeen(new Trust(['key']), 'salt')]
  return ({ share, next }) => {
    const name = Math.floor(people * next() ** 2)
    const person = known.get(name) ?? { place: next(), content: next() < 0.5 ? 0.1 : 0.9 }
    known.set(name, person)
    if (drawn === 'session') return { ...eachSession({ share, next }), person }
    const candidate = person.place < share
    const propensity = candidate ? share : 1 - share
    if (drawn === 'person-as-sessions') return { candidate, propensity, person }
    const origin = { kind: 'traffic', key: 'key', subject: String(name) }
    return { candidate, ...seen.take({ origin }, candidate ? 'candidate' : 'baseline', propensity), person }
  }
}

/** How far a canary came: what ended it and how many sessions it had seen by then, of which the candidate's. */
export function runCanary({
  gate,
  law,
  next,
  draw = eachSession,
  rewardRange = [0, 1],
  lookAfter = 20,
  growth = 1.15,
}) {
  const sessions = []
  let [step, inStep, candidates, nextLook] = [0, 0, 0, lookAfter]
  for (;;) {
    const share = gate.shares[step]
    const { candidate, propensity, person } = draw({ share, next })
    if (candidate) candidates++
    if (candidate && propensity < 1) inStep++
    sessions.push({
      trajectory: `s${sessions.length}`,
      arm: candidate ? 'candidate' : 'baseline',
      propensity,
      guards: {},
      ...law({ candidate, next, person, at: sessions.length }),
    })
    if (sessions.length < nextLook) continue
    nextLook = Math.max(nextLook + lookAfter, Math.ceil(growth * nextLook))
    const verdict = gate.look({ sessions, step, sessionsInStep: inStep, rewardRange })
    if (verdict.action === 'wait') continue
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
      return { action: sessionsInStep >= maxSessions ? 'end' : 'wait' }
    },
  }
}

const hit = (probability) => (next) => Number(next() < probability)

/** Laws of A/A canaries: both arms earn the same, whatever the law does over time. */
export const EQUAL = [
  { name: '0/1, mean 0.1', law: ({ next }) => ({ reward: hit(0.1)(next) }) },
  { name: '0/1, mean 0.5', law: ({ next }) => ({ reward: hit(0.5)(next) }) },
  { name: '0/1, mean 0.9', law: ({ next }) => ({ reward: hit(0.9)(next) }) },
  {
    name: 'graded: solved less 0.02 a call',
    law: ({ next }) => ({ reward: 0.3 + 0.7 * hit(0.6)(next) - 0.02 * Math.floor(11 * next()) }),
  },
  {
    name: '0/1, mean 0.5, 30 % missing, neutral',
    law: ({ next }) => ({ reward: next() < 0.3 ? null : hit(0.5)(next) }),
    config: { missing: 'neutral' },
  },
  {
    name: '0/1, falling from 0.8 to 0.2 over 1,000 sessions',
    law: ({ next, at }) => ({ reward: hit(Math.max(0.2, 0.8 - 0.0006 * at))(next) }),
  },
  {
    name: '0/1, day and night: 0.7 and 0.3, 200 sessions each',
    law: ({ next, at }) => ({ reward: hit(at % 400 < 200 ? 0.7 : 0.3)(next) }),
  },
]

/** 0/1 rewards of mean `mean`, and `mean + gain` for the candidate. */
export const zeroOne =
  (mean, gain) =>
  ({ candidate, next }) => ({ reward: hit(candidate ? mean + gain : mean)(next) })

/** Sessions until an incremental test of `law` reaches 1/alpha, of at most `most`: candidate sessions, or `null`. */
export function sessionsUntil({ law, share, next, most, crossedAt }) {
  const observations = Array.from({ length: most }, (_, at) => {
    const candidate = next() < share
    return { candidate, propensity: share, value: law({ candidate, next, at }).reward }
  })
  const sessions = crossedAt(observations)
  return sessions === null ? null : observations.slice(0, sessions).filter(({ candidate }) => candidate).length
}

/** Where the largest e-value so far, which only rises, first reaches the bound: by bisection. */
export function crossingOf(largest, bound) {
  return (observations) => {
    if (largest(observations) < bound) return null
    let [low, high] = [0, observations.length]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (largest(observations.slice(0, middle)) < bound) low = middle
      else high = middle
    }
    return high
  }
}

/** Betting by aGRAPA (Waudby-Smith & Ramdas 2024) on the same centred and weighted values, cut at the same bound. */
export function agrapa(bound) {
  return (observations) => {
    let [log, mean, n, sum, squares] = [0, 0.5, 0, 0, 0]
    for (const { candidate, propensity, value } of observations) {
      const odds = propensity / (1 - propensity)
      const y = candidate ? value - mean : (mean - value) * odds
      const average = sum / (n + 1)
      const variance = (squares + (0.25 * propensity) / (1 - propensity)) / (n + 1) - average ** 2
      const bet = Math.min(Math.max(average / (variance + average ** 2), 0), 0.5 / Math.max(mean, (1 - mean) * odds))
      log += Math.log1p(bet * y)
      n++
      if (log >= bound) return n
      sum += y
      squares += y ** 2
      mean += (value - mean) / (n + 1)
    }
    return null
  }
}

/**
 * The normal mixture for bounded values (Howard, Ramdas, McAuliffe & Sekhon 2021) on weighted values centred at a half:
 * their variance is taken to be the largest that their range allows. Tightest at about 500 sessions.
 */
export function hoeffdingMixture(bound) {
  return (observations) => {
    let [sum, variance] = [0, 0]
    for (const [at, { candidate, propensity, value }] of observations.entries()) {
      const odds = propensity / (1 - propensity)
      sum += candidate ? value - 0.5 : (0.5 - value) * odds
      variance += (Math.max(1, odds) / 2) ** 2
      const scale = 500 * (Math.max(1, odds) / 2) ** 2
      const log = sum ** 2 / (2 * (variance + scale)) - 0.5 * Math.log((variance + scale) / scale)
      // One side of the mixture has at most twice its weight.
      if (sum > 0 && log + Math.log(2) >= bound) return at + 1
    }
    return null
  }
}
