/**
 * What the audit of canaries promises is worth, by simulation, as Markdown tables.
 *
 *     npx tsc -b && node scripts/audit-evidence.mjs [--seed N] [--canaries N] [--judge]
 *
 * `--judge`: the table of judges alone, in some minutes.
 */
import { parseArgs } from 'node:util'
import { rng } from '../dist/core/index.js'
import { canaryGate, planAudit, truthAbove, wilson } from '../dist/gate/index.js'
import { percent, table, times } from './evidence.mjs'
import { judgeTables } from './judge-evidence.mjs'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    canaries: { type: 'string', default: '1000' },
    judge: { type: 'boolean', default: false },
  },
})
const CANARIES = Number(values.canaries)
// First, so that it can be had alone.
judgeTables({ seed: values.seed, canaries: CANARIES })
if (values.judge) process.exit(0)
const FEWER = Math.ceil(CANARIES / 5)
const ALPHA = 0.05
const SHOWN = -Math.log(ALPHA)
const random = (...parts) => {
  const stream = rng('audit-evidence', values.seed, ...parts.map(String))
  return () => stream.next()
}
const within = (count, n) => {
  const [low, high] = wilson(count, n, 0.95)
  return `${percent(count / n)} [${percent(low)}, ${percent(high)}]`
}

/**
 * One session. `base`: how often what serves is right; `effect`: how much more often the candidate is; `honest`: share of the
 * sessions whose behaviour is the truth; `trick`: how much better behaviour otherwise looks in the candidate's arm.
 */
function session(next, { base = 0.5, effect = 0, honest = 0.7, trick = 0 }, candidate) {
  const right = Math.min(base + (candidate ? effect : 0), 1)
  const truth = Number(next() < right)
  const looks = Math.min(right + (candidate ? trick : 0), 1)
  return { truth, behaviour: next() < honest ? truth : Number(next() < looks) }
}

// 1. A/A: the test alone, looked at after every session.
const LABELS = 400
function* observations(next, law, { share = 0.1, propensity = () => 0.5, covariates = true }) {
  for (let labels = 0, at = 0; labels < LABELS; at++) {
    const pi = propensity(at)
    const candidate = next() < pi
    const { truth, behaviour } = session(next, law, candidate)
    const drawn = next() < share
    if (drawn) labels++
    const features = covariates ? [behaviour] : []
    yield { candidate, propensity: pi, probability: share, drawn, truth, features }
  }
}
table(
  `Candidates that are no better: shown to be, looked at after every session until ${LABELS} labels, ${CANARIES} canaries a row, level ${ALPHA}`,
  ['behaviour', 'drawn', 'shown wrongly, with its 95 % interval', 'without behaviour'],
  [
    ['tells the truth in 70 %', {}, {}],
    ['tells the truth in 70 %', {}, { share: 0.02 }],
    ['tells nothing', { honest: 0 }, {}],
    ['looks 40 points better for the candidate', { trick: 0.4 }, {}],
    ['looks 40 points better, and the candidate is 10 points worse', { trick: 0.5, effect: -0.1 }, {}],
    ['tells the truth in 70 %, mean 0.9', { base: 0.9 }, {}],
    ['tells the truth in 70 %, on a ramp of 10 and 50 %', {}, { propensity: (at) => (at < 1_500 ? 0.1 : 0.5) }],
  ].map(([name, law, how]) => {
    const wrong = (covariates) => {
      const next = random('aa', name, how.share, covariates)
      return times(CANARIES, () => truthAbove(observations(next, law, { ...how, covariates }), 0, SHOWN)).filter(
        ({ shownAfter }) => shownAfter !== null,
      ).length
    }
    return [name, percent(how.share ?? 0.1), within(wrong(true), CANARIES), within(wrong(false), CANARIES)]
  }),
)

// 2. The whole gate: behaviour alone beside the audit.
const MAX_LABELS = 600
const RULES = { shares: [0.1, 0.5], sessionsPerStep: 50, maxSessions: 2_000, lifetime: null, missing: 'neutral' }
const GATES = {
  'behaviour-only': canaryGate({ ...RULES, promote: 'behaviour-only' }),
  audited: canaryGate({ ...RULES, audit: { share: 0.25, by: 'person', maxLabels: MAX_LABELS } }),
}
function canary(gate, law, next) {
  const sessions = []
  let [step, sessionsInStep, labels] = [0, 0, 0]
  for (let look = 60; ; ) {
    const share = gate.shares[step]
    const candidate = next() < share
    const { truth, behaviour } = session(next, law, candidate)
    // Fewer labels at the first share, as the registry draws them.
    const probability = 0.25 * ((share * (1 - share)) / 0.25)
    const drawn = next() < probability
    if (candidate) sessionsInStep++
    if (drawn) labels++
    sessions.push({
      trajectory: `s${sessions.length}`,
      arm: candidate ? 'candidate' : 'baseline',
      propensity: candidate ? share : 1 - share,
      reward: behaviour,
      guards: {},
      audit: { probability, drawn, settled: true, truth: drawn ? truth : null },
    })
    if (sessions.length < look) continue
    look = Math.ceil(1.15 * look)
    const verdict = gate.look({ sessions, step, sessionsInStep, rewardRange: [0, 1] })
    if (verdict.action === 'advance') [step, sessionsInStep] = [step + 1, 0]
    else if (verdict.action !== 'wait') {
      const goodhart = verdict.reasons[0].startsWith('Goodhart')
      return { action: verdict.action, goodhart, labels, sessions: sessionsInStep }
    }
  }
}
const median = (numbers) =>
  numbers.length === 0 ? '–' : numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
table(
  `The gate on a ramp of 10 and 50 %, level ${ALPHA}, ${FEWER} canaries a row: behaviour alone, and with a quarter of the sessions audited, at most ${MAX_LABELS} labels`,
  [
    'candidate',
    'behaviour-only: promoted',
    'rolled back',
    'audited: promoted',
    'rolled back',
    'given up',
    'labels to a promotion: median',
  ],
  [
    ['equal', {}],
    ['equal, behaviour looks 40 points better', { trick: 0.4, honest: 0.4 }],
    ['10 points worse, behaviour looks better', { effect: -0.1, trick: 0.6, honest: 0.4 }],
    ['10 points better', { effect: 0.1 }],
    ['14 points better', { effect: 0.14 }],
    ['14 points better, behaviour looks the same', { effect: 0.14, honest: 0, trick: -0.14 }],
    ['20 points better', { effect: 0.2 }],
    ['10 points worse', { effect: -0.1 }],
  ].map(([name, law]) => {
    const [alone, audited] = Object.entries(GATES).map(([rules, gate]) => {
      const next = random('gate', name, rules)
      return times(FEWER, () => canary(gate, law, next))
    })
    const part = (results, action) => percent(results.filter((one) => one.action === action).length / FEWER)
    const promoted = audited.filter(({ action }) => action === 'promote')
    return [
      name,
      part(alone, 'promote'),
      part(alone, 'roll-back'),
      part(audited, 'promote'),
      part(audited, 'roll-back'),
      part(audited, 'end'),
      promoted.length > FEWER / 2 ? median(promoted.map(({ labels }) => labels)) : '–',
    ]
  }),
)

// 3. Goodhart's law: what behaviour pays rises, and the truth does not follow.
table(
  `Stopped by Goodhart's law (margin 0.1, level ${ALPHA}), the same gate, ${FEWER} canaries a row`,
  [
    'candidate',
    "gain of the reward − the truth's",
    "stopped by Goodhart's law, with its 95 % interval",
    'rolled back otherwise',
    'promoted',
    "labels to Goodhart's stop: median",
  ],
  [
    ['equal, behaviour tells the truth in 70 %', {}, 0],
    ['equal, behaviour is noise', { honest: 0 }, 0],
    ['14 points better, behaviour tells the truth in 70 %', { effect: 0.14 }, 0],
    ['equal, behaviour looks 10 points better: just the margin', { honest: 0, trick: 0.1 }, 0.1],
    ['10 points better, behaviour looks 30 points better', { honest: 0, effect: 0.1, trick: 0.2 }, 0.2],
    ['20 points better, behaviour looks 40 points better', { honest: 0, effect: 0.2, trick: 0.2 }, 0.2],
    ['equal, behaviour looks 20 points better', { honest: 0, trick: 0.2 }, 0.2],
    ['equal, behaviour looks 40 points better', { honest: 0, trick: 0.4 }, 0.4],
    ['10 points worse, behaviour looks 30 points better', { honest: 0, effect: -0.1, trick: 0.4 }, 0.4],
  ].map(([name, law, excess]) => {
    const next = random('goodhart', name)
    const results = times(FEWER, () => canary(GATES.audited, law, next))
    const part = (is) => percent(results.filter(is).length / FEWER)
    const stopped = results.filter(({ goodhart }) => goodhart)
    return [
      name,
      excess,
      within(stopped.length, FEWER),
      part(({ action, goodhart }) => action === 'roll-back' && !goodhart),
      part(({ action }) => action === 'promote'),
      stopped.length > FEWER / 2 ? median(stopped.map(({ labels }) => labels)) : '–',
    ]
  }),
)

// 4. Labels against power, with and without what behaviour tells.
const DESIGNS = [
  ['labels alone', {}],
  ['r 0.5, 25 % drawn', { correlation: 0.5 }],
  ['r 0.7, 25 % drawn', { correlation: 0.7 }],
  ['r 0.7, 5 % drawn', { correlation: 0.7, share: 0.05 }],
  ['r 0.9, 5 % drawn', { correlation: 0.9, share: 0.05 }],
  ['r 0.9, 1 % drawn', { correlation: 0.9, share: 0.01 }],
]
const told = (labels, tried) => (labels === null ? `> ${tried}` : labels)
table(
  `Labels of both arms until a gain is shown at ${ALPHA}: for a power of 80 % (of 50 %), what serves is right one time in two. r: correlation of behaviour with the truth`,
  ['gain', ...DESIGNS.map(([name]) => name)],
  [0.05, 0.1, 0.14, 0.2, 0.3].map((effect) => [
    effect,
    ...DESIGNS.map(([, design]) => {
      const { labels, median: half, tried } = planAudit({ effect, ...design })
      return `${told(labels, tried)} (${told(half, tried)})`
    }),
  ]),
)

// 5. What labels of a week do.
const WEEKLY = [20, 50, 200]
table(
  'Weeks until a gain is shown in 80 % of the canaries',
  ['gain', 'design', ...WEEKLY.map((labels) => `${labels} labels a week`)],
  [0.1, 0.2, 0.3].flatMap((effect) =>
    [DESIGNS[0], DESIGNS[3], DESIGNS[4]].map(([name, design]) => {
      const { labels } = planAudit({ effect, ...design })
      return [effect, name, ...WEEKLY.map((weekly) => (labels === null ? '–' : Math.ceil(labels / weekly)))]
    }),
  ),
)
