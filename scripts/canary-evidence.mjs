/**
 * What the canary gate's and the drift detectors' promises are worth, by simulation, as Markdown tables.
 *
 *     npx tsc -b && node scripts/canary-evidence.mjs [--seed N] [--canaries N]
 */
import { parseArgs } from 'node:util'
import { rng } from '../dist/core/index.js'
import { canaryGate, differenceAbove } from '../dist/gate/index.js'
import { NEW_WATCH, NOTHING_SEEN, DriftConfig, watchFor, watchSession } from '../dist/release/drift/index.js'
import {
  agrapa,
  crossingOf,
  crowd,
  EQUAL,
  hoeffdingMixture,
  peekingGate,
  runCanary,
  sessionsUntil,
  zeroOne,
} from './canary-simulation.mjs'
import { binomialBound, percent, table, times } from './evidence.mjs'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, canaries: { type: 'string', default: '1000' } },
})
const CANARIES = Number(values.canaries)
const FEWER = Math.ceil(CANARIES / 8)
const random = (...parts) => {
  const stream = rng('canary-evidence', values.seed, ...parts)
  return () => stream.next()
}
const quantile = (numbers, q) =>
  numbers.length === 0 ? '–' : Math.round(numbers.toSorted((a, b) => a - b)[Math.floor(q * numbers.length)])

/** Results of `count` canaries. */
function canaries(count, name, { law, config, gateOf = () => canaryGate(config), drawOf }) {
  const next = random(name)
  return times(count, () => runCanary({ gate: gateOf(), law, next, ...(drawOf && { draw: drawOf() }) }))
}
const shareOf = (results, action) => percent(results.filter((one) => one.action === action).length / results.length)
const of = (results, action, count) => results.filter((one) => one.action === action).map((one) => one[count])

// 1. A/A canaries.
const SHORT = { shares: [0.1, 0.5, 1], sessionsPerStep: 50, maxSessions: 500, promote: 'behaviour-only' }
const bound = binomialBound(CANARIES, 0.05)
table(
  `${CANARIES} A/A canaries a row, all levels 0.05 (bound of each column: ${bound}, exceeded by chance once in 1,000); beside them, a z-test that is looked at again and again`,
  [
    'rewards',
    'promoted wrongly',
    'would have been, looked at after every session',
    'rolled back for rewards or guards',
    'given up',
    'z-test: promoted wrongly',
    'z-test: rolled back',
  ],
  EQUAL.map(({ name, law, config: more }) => {
    const config = { ...SHORT, ...more }
    const ours = canaries(CANARIES, name, { law, config })
    const naive = canaries(CANARIES, name, { law, gateOf: () => peekingGate({ ...SHORT, shares: [0.1, 0.5] }) })
    const count = (results, action) => results.filter((one) => one.action === action).length
    return [
      name,
      count(ours, 'promote'),
      ours.filter(({ verdict }) => verdict.evidence.gain.most >= verdict.evidence.gain.bound).length,
      count(ours, 'roll-back'),
      count(ours, 'end'),
      count(naive, 'promote'),
      count(naive, 'roll-back'),
    ]
  }),
)

// 1b. People who come again.
const OF_PEOPLE = { ...SHORT, maxSessions: 2000 }
table(
  `People who come again (an eighth of the sessions are of the busiest 64th): half of them content in 0.1 of their sessions, half in 0.9; ${CANARIES} A/A canaries a row (bound: ${bound}), and ${FEWER} where the candidate contents each 0.1 oftener`,
  ['people', 'what is drawn', 'promoted wrongly', 'rolled back wrongly', 'gain 0.1: promoted', 'all sessions: median'],
  [100, 1000, 10_000].flatMap((people) =>
    ['person', 'person-as-sessions', 'session'].map((drawn) => {
      const law =
        (gain) =>
        ({ candidate, next, person: { content } }) => ({
          reward: Number(next() < Math.min(1, content + (candidate ? gain : 0))),
        })
      const of = (count, gain) =>
        canaries(count, `people ${people} ${drawn} ${gain}`, {
          law: law(gain),
          config: OF_PEOPLE,
          drawOf: () => crowd({ people, drawn }),
        })
      const equal = of(CANARIES, 0)
      const better = of(FEWER, 0.1)
      const count = (action) => equal.filter((one) => one.action === action).length
      const spent = better.filter(({ action }) => action === 'promote').map(({ sessions }) => sessions)
      return [people, drawn, count('promote'), count('roll-back'), shareOf(better, 'promote'), quantile(spent, 0.5)]
    }),
  ),
)

// 2. The bets beside others, at one share, looked at after every session.
const SHOWN = -Math.log(0.05)
const RIVALS = [
  crossingOf((observations) => differenceAbove(observations, 0).most, SHOWN),
  agrapa(SHOWN),
  hoeffdingMixture(SHOWN),
]
table(
  `Candidate sessions until a gain is shown at 0.05, 0/1 values at one share, at most 2,000, ${FEWER} courses a row: median (shown at all)`,
  ['mean before', 'gain', 'share', 'this gate’s bets', 'aGRAPA', 'Hoeffding mixture'],
  [
    [0.5, 0, 0.5],
    [0.5, 0.05, 0.5],
    [0.5, 0.1, 0.5],
    [0.5, 0.2, 0.5],
    [0.5, 0.1, 0.1],
    [0.05, 0.05, 0.1],
    [0.9, 0.05, 0.5],
  ].map(([mean, gain, share]) => [
    mean,
    gain,
    share,
    ...RIVALS.map((crossedAt) => {
      const next = random('bets', mean, gain, share)
      const law = zeroOne(mean, gain)
      const found = times(FEWER, () => sessionsUntil({ law, share, next, most: 2000 / share, crossedAt }))
      const shown = found.filter((sessions) => sessions !== null)
      const median =
        shown.length > FEWER / 2
          ? quantile(
              found.map((sessions) => sessions ?? Infinity),
              0.5,
            )
          : '–'
      return `${median} (${percent(shown.length / FEWER)})`
    }),
  ]),
)

// 3. Regressions and gains of the reward.
const LONG = { shares: [0.1, 0.5, 1], promote: 'behaviour-only' }
table(
  `Planted regressions, 0/1 rewards of mean 0.7 before, ${FEWER} canaries a row`,
  [
    'regression',
    'rolled back',
    'promoted',
    'candidate sessions before the rollback: median',
    'nine in ten within',
    'share in force at the rollback: 0.1',
  ],
  [-0.02, -0.05, -0.1, -0.2, -0.4].map((gain) => {
    const results = canaries(FEWER, `loss ${gain}`, { law: zeroOne(0.7, gain), config: LONG })
    const back = results.filter(({ action }) => action === 'roll-back')
    return [
      gain,
      shareOf(results, 'roll-back'),
      shareOf(results, 'promote'),
      quantile(of(results, 'roll-back', 'candidates'), 0.5),
      quantile(of(results, 'roll-back', 'candidates'), 0.9),
      back.length === 0 ? '–' : percent(back.filter(({ share }) => share === 0.1).length / back.length),
    ]
  }),
)
table(
  `Gains, 0/1 rewards, ${FEWER} canaries a row`,
  [
    'mean before',
    'gain',
    'promoted',
    'rolled back',
    'given up',
    'candidate sessions to the promotion: median',
    'all sessions: median',
  ],
  [
    [0.5, 0.05],
    [0.5, 0.1],
    [0.5, 0.2],
    [0.85, 0.05],
    [0.85, 0.1],
  ].map(([mean, gain]) => {
    const results = canaries(FEWER, `gain ${mean} ${gain}`, { law: zeroOne(mean, gain), config: LONG })
    return [
      mean,
      gain,
      ...['promote', 'roll-back', 'end'].map((action) => shareOf(results, action)),
      quantile(of(results, 'promote', 'candidates'), 0.5),
      quantile(of(results, 'promote', 'sessions'), 0.5),
    ]
  }),
)

// 4. Guards: the reward is the same, or better; something else got worse.
const GUARDS = {
  brokenCalls: { tolerance: 0.02, range: [0, 1] },
  questionsBack: { tolerance: 0.02, range: [0, 1] },
  tokens: { tolerance: 50, range: [0, 4000] },
}
const guarded =
  ({ gain, broken = 0.05, tokens = 1 }) =>
  ({ candidate, next }) => ({
    reward: Number(next() < (candidate ? 0.5 + gain : 0.5)),
    guards: {
      brokenCalls: Number(next() < (candidate ? broken : 0.05)),
      questionsBack: Number(next() < 0.1),
      tokens: (200 + 600 * next()) * (candidate ? tokens : 1),
    },
  })
table(
  `Regressions of guards alone (broken calls 0.05 of sessions before, 0.02 more tolerated; 500 tokens before, 50 more tolerated, declared [0, 4000]; three guards and the one on missing rewards), ${FEWER} canaries a row`,
  [
    'gain of the reward',
    'guards',
    'rolled back',
    'promoted',
    'candidate sessions before the rollback: median',
    'nine in ten within',
  ],
  [
    { gain: 0, what: 'as before' },
    { gain: 0, broken: 0.1, what: 'broken calls 0.10' },
    { gain: 0, broken: 0.15, what: 'broken calls 0.15' },
    { gain: 0, broken: 0.25, what: 'broken calls 0.25' },
    { gain: 0, tokens: 1.5, what: 'half more tokens' },
    { gain: 0.2, what: 'as before' },
    { gain: 0.2, broken: 0.15, what: 'broken calls 0.15' },
    { gain: 0.2, broken: 0.25, what: 'broken calls 0.25' },
    { gain: 0.2, broken: 0.5, what: 'broken calls 0.50' },
  ].map(({ what, ...law }) => {
    const results = canaries(FEWER, `guard ${law.gain} ${what}`, {
      law: guarded(law),
      config: { ...LONG, guards: GUARDS, maxSessions: 1000 },
    })
    return [
      law.gain,
      what,
      shareOf(results, 'roll-back'),
      shareOf(results, 'promote'),
      quantile(of(results, 'roll-back', 'candidates'), 0.5),
      quantile(of(results, 'roll-back', 'candidates'), 0.9),
    ]
  }),
)

// 4b. Guards on a rise: seconds of sessions, some of which take many times as long as others, and those on their tails.
const RISING = { ...LONG, maxSessions: 1000, guards: { seconds: { relative: 0.5 } } }
const gaussian = (next) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
table(
  `Seconds of a session (log-normal, sigma 1, at a scale of 0.01, 10 or 10,000), half as much again tolerated; rewards 0/1 of mean 0.5 in both arms; ${CANARIES} canaries a row of what is tolerated (bound of each guard: ${binomialBound(CANARIES, 0.05 / 3)}), ${FEWER} of what is not`,
  [
    'candidate takes',
    'scale',
    'rolled back',
    'for seconds',
    'for their tail',
    'candidate sessions before that: median',
    'nine in ten within',
  ],
  [
    [1, 10],
    [1.5, 10],
    [2, 0.01],
    [2, 10],
    [2, 10_000],
    [3, 10],
    [5, 10],
    [10, 10, 0.1],
    [100, 10, 0.1],
    [100, 10, 0.03],
    [100, 10, 0.01],
  ].map(([factor, scale, seldom = 1]) => {
    const slower = (next) => (seldom === 1 || next() < seldom ? factor : 1)
    const law = ({ candidate, next }) => ({
      reward: Number(next() < 0.5),
      guards: { seconds: scale * Math.exp(gaussian(next)) * (candidate ? slower(next) : 1) },
    })
    const results = canaries(
      factor <= 1.5 ? CANARIES : FEWER,
      `rise ${factor} ${scale}${seldom === 1 ? '' : ` in ${seldom}`}`,
      { law, config: RISING },
    )
    const [usual, tail] = ['The guard seconds ', 'The guard seconds/tail '].map((guard) =>
      results.filter(({ verdict }) => verdict.reasons[0].startsWith(guard)),
    )
    const spent = [...usual, ...tail].map(({ candidates }) => candidates)
    return [
      `${factor} times as long${seldom === 1 ? '' : ` in ${percent(seldom)} of its sessions`}`,
      scale,
      shareOf(results, 'roll-back'),
      percent(usual.length / results.length),
      percent(tail.length / results.length),
      quantile(spent, 0.5),
      quantile(spent, 0.9),
    ]
  }),
)

// 5. Missing rewards.
const missing =
  ({ gain, either = 0, failures = 0, baseline = 0 }) =>
  ({ candidate, next }) => {
    const reward = Number(next() < (candidate ? 0.6 + gain : 0.6))
    const gone = next() < either || (reward === 0 && next() < (candidate ? failures : baseline))
    return { reward: gone ? null : reward }
  }
table(
  `Missing rewards, 0/1 of mean 0.6, ${FEWER} canaries a row, at most 1,000 candidate sessions a step`,
  [
    'gain',
    'what is missing',
    'worst: promoted',
    'worst: rolled back',
    'neutral: promoted',
    'neutral: rolled back',
    'neutral, whose excess counts is the candidate alone: rolled back',
    'neutral without guard and lowest: promoted',
  ],
  [
    { gain: 0.1, what: 'nothing' },
    { gain: 0.1, either: 0.05, what: '5 % at random' },
    { gain: 0.1, either: 0.3, what: '30 % at random' },
    { gain: 0, failures: 0.1, what: 'a tenth of the candidate’s failures' },
    { gain: 0, failures: 0.3, what: 'three tenths of them' },
    { gain: -0.05, failures: 0.3, what: 'three tenths of them' },
    { gain: 0, baseline: 0.3, what: 'three tenths of the baseline’s failures' },
    { gain: 0.1, baseline: 0.6, what: 'six tenths of them' },
  ].map(({ what, ...law }) => {
    const results = ['worst', 'neutral', 'as before', 'unguarded'].map((mode) =>
      canaries(FEWER, `missing ${law.gain} ${what}`, {
        law: missing(law),
        config: {
          ...LONG,
          maxSessions: 1000,
          missing: mode === 'worst' ? 'worst' : 'neutral',
          excess: mode === 'as before' ? 'candidate' : 'either',
        },
        ...(mode === 'unguarded' && { gateOf: () => unguarded({ ...LONG, maxSessions: 1000 }) }),
      }),
    )
    return [
      law.gain,
      what,
      ...results.slice(0, 2).flatMap((one) => [shareOf(one, 'promote'), shareOf(one, 'roll-back')]),
      shareOf(results[2], 'roll-back'),
      shareOf(results[3], 'promote'),
    ]
  }),
)

/** Leaves sessions without reward out before the gate sees them. */
function unguarded(config) {
  const gate = canaryGate({ ...config, missing: 'neutral' })
  return {
    ...gate,
    look: (input) => gate.look({ ...input, sessions: input.sessions.filter(({ reward }) => reward !== null) }),
  }
}

// 6. Drift: false alarms.
const BETWEEN = 1000
const STREAMS = Math.ceil(CANARIES / 5)
const stream = (name, direction, more) => ({
  name,
  direction,
  sessionsBetweenFalseAlarms: BETWEEN,
  resolution: 0.001,
  seed: Number(values.seed),
  ...more,
})
/** Sessions to the first alarm of a stream, at most `most`. */
function sessionsToAlarm({ detector, draw, seed, most }) {
  let state = { ...NOTHING_SEEN }
  for (let at = 0; at < most; at++) {
    const step = watchFor({ ...detector, seed }, state, draw(at), at)
    if (step.drift) return { sessions: at + 1, drift: step.drift }
    state = step.state
  }
  return { sessions: most, drift: null }
}
const mean = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length
const STATIONARY = [
  ['reward 0/1, mean 0.7', 'drop', (next) => Number(next() < 0.7)],
  ['reward graded, 30 values', 'drop', (next) => Math.round(30 * next() * next()) / 30],
  ['errors in one session of fifty', 'rise', (next) => Number(next() < 0.02)],
  ['heavy tails', 'rise', (next) => Math.min(50, 1 / (next() + 1e-9))],
]
table(
  `Drift: sessions to the first false alarm, ${STREAMS} streams a row, stated mean at least ${BETWEEN} (streams are cut off at ${10 * BETWEEN}: the mean is larger than shown)`,
  ['values', 'mean', 'within the first tenth of the stated mean', 'cut off'],
  STATIONARY.map(([name, direction, law]) => {
    const next = random('stationary', name)
    const found = times(STREAMS, (seed) =>
      sessionsToAlarm({
        detector: stream(name, direction, { resolution: 0.01 }),
        draw: () => law(next),
        seed,
        most: 10 * BETWEEN,
      }),
    )
    return [
      name,
      Math.round(mean(found.map(({ sessions }) => sessions))),
      percent(found.filter(({ sessions }) => sessions <= BETWEEN / 10).length / STREAMS),
      percent(found.filter(({ drift }) => drift === null).length / STREAMS),
    ]
  }),
)

// 7. Drift: delay, with the default of 10,000 sessions between false alarms.
const ORDINARY = { sessionsBetweenFalseAlarms: 10_000 }
const CHANGES = [
  ['reward', 'drop', 0.7, 0.6],
  ['reward', 'drop', 0.7, 0.5],
  ['reward', 'drop', 0.7, 0.3],
  ['tool-errors', 'rise', 0.02, 0.1],
  ['tool-errors', 'rise', 0.02, 0.2],
]
const DELAYED = [
  'alarms before it',
  'seen within 2,000 sessions',
  'sessions after the change: median',
  'nine in ten within',
  'error of “since”: median',
]
function delays(found, change) {
  const seen = found.filter(({ sessions, drift }) => drift && sessions > change)
  return [
    found.filter(({ sessions, drift }) => drift && sessions <= change).length,
    percent(seen.length / found.filter(({ sessions, drift }) => !drift || sessions > change).length),
    quantile(
      seen.map(({ sessions }) => sessions - change),
      0.5,
    ),
    quantile(
      seen.map(({ sessions }) => sessions - change),
      0.9,
    ),
    quantile(
      seen.map(({ drift }) => Math.abs(drift.since - change)),
      0.5,
    ),
  ]
}
table(
  `Drift: delay of detection, 0/1 values, ${STREAMS / 2} streams a row, at least 10,000 sessions between false alarms`,
  ['stream', 'before', 'after', 'change after', ...DELAYED],
  CHANGES.flatMap(([name, direction, before, after]) =>
    [200, 1000].map((change) => {
      const next = random('change', name, before, after, change)
      const found = times(STREAMS / 2, (seed) =>
        sessionsToAlarm({
          detector: stream(name, direction, ORDINARY),
          draw: (at) => Number(next() < (at < change ? before : after)),
          seed,
          most: change + 2000,
        }),
      )
      return [name, before, after, change, ...delays(found, change)]
    }),
  ),
)

// 8. Drift of the task mix: two families of tasks, each with words of its own and words that all tasks share.
function instruction(next, family) {
  const word = (prefix, vocabulary) =>
    `${prefix}${'abcdefghijklmnopqrstuvwxyz'[Math.floor(26 * next())]}${Math.floor(vocabulary * next() ** 2)
      .toString(36)
      .replace(/\d/g, 'q')}`
  return times(6 + Math.floor(8 * next()), () => (next() < 0.6 ? word('x', 20) : word(family, 20))).join(' ')
}
table(
  `Drift of the task mix: a share of the tasks comes from another family from session 1,000 on (six words in ten are common to both), ${STREAMS / 4} streams a row, at least 10,000 sessions between false alarms`,
  ['share of other tasks', ...DELAYED],
  [0.1, 0.25, 0.5, 1].map((share) => {
    const next = random('mix', share)
    const found = times(STREAMS / 4, (seed) => {
      const config = DriftConfig.parse({ seed })
      let state = NEW_WATCH
      for (let at = 0; at < 3000; at++) {
        const other = at >= 1000 && next() < share
        const session = {
          at,
          reward: null,
          vetoed: false,
          toolResults: 0,
          toolErrors: 0,
          tools: ['search'],
          instruction: instruction(next, other ? 'b' : 'a'),
        }
        const step = watchSession(config, state, session)
        const [alert] = step.alerts
        if (alert) return { sessions: at + 1, drift: alert.evidence }
        state = step.state
      }
      return { sessions: 3000, drift: null }
    })
    return [share, ...delays(found, 1000)]
  }),
)
