/**
 * What the gate's promises are worth: error rates, power, repeated use, guards and missing scores, as Markdown tables.
 *
 *     npx tsc -b && node scripts/gate-evidence.mjs [--seed N] [--gates N]
 */
import { parseArgs } from 'node:util'
import { rng } from '../dist/core/index.js'
import { claimHoldout, criticalWins, holdoutHash, pairedGate, promotionProbability } from '../dist/gate/index.js'
import { binomialBound, percent, table, times } from './evidence.mjs'
import * as alternatives from './gate-alternatives.mjs'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, gates: { type: 'string', default: '1000' } },
})
const GATES = Number(values.gates)
const ALPHA = 0.05
const random = (...parts) => {
  const stream = rng('gate-evidence', values.seed, ...parts)
  return () => stream.next()
}
const IDS = times(400, (i) => `task-${i}`)

/** Whole use of alpha at once, unless a ledger says otherwise. */
const useOf = (n) => ({ holdout: holdoutHash(IDS.slice(0, n)), use: 1, alpha: ALPHA, run: null, at: 0 })
const USES = new Map([100, 200, 400].map((n) => [n, useOf(n)]))

function decide(gate, pairs, { range = [0, 1], use = USES.get(pairs.length), suites = {} } = {}) {
  const outcomes = pairs.map(([baseline, candidate, guards], i) => ({ task: IDS[i], baseline, candidate, ...guards }))
  return gate.decide({ outcomes, suites, use, rewardRange: range }).decision
}

// 1. Error rate with pass/fail scores: computed over all outcomes, at 101 rates of disagreement.
function exactSize(tasks, margin, alpha) {
  const critical = criticalWins(tasks, margin, alpha)
  return Math.max(
    ...times(101, (i) => {
      const discordant = margin + ((1 - margin) * i) / 100
      return promotionProbability(critical, {
        tasks,
        wins: (discordant + margin) / 2,
        losses: (discordant - margin) / 2,
      })
    }),
  )
}
table(
  'Largest probability of a false promotion, pass/fail scores (computed, not simulated)',
  ['tasks', 'margin', 'alpha 0.05', 'alpha 0.0304 (first use of a holdout)'],
  [50, 100, 200, 400].flatMap((n) =>
    [0, 0.02, 0.05].map((m) => [n, m, exactSize(n, m, 0.05).toFixed(4), exactSize(n, m, 0.0304).toFixed(4)]),
  ),
)

// 2. A/A gates: nothing was gained, or exactly the margin was. A shape draws the pair of scores of one task.
const independent = (rate) => (next, gain) => [Number(next() < rate), Number(next() < rate + gain)]
/** Both arms do the same on four tasks of five; the gain is spread over all tasks. */
const correlated = (rate) => (next, gain) => {
  const baseline = Number(next() < rate)
  const again = next() < 0.8 ? baseline : Number(next() < rate)
  return [baseline, again === 1 || next() < gain / (1 - rate) ? 1 : 0]
}
const calls = (next) => 0.02 * Math.floor(11 * next())
const SHAPES = [
  ['pass/fail, 0.3, independent', independent(0.3)],
  ['pass/fail, 0.3, correlated', correlated(0.3)],
  ['pass/fail, 0.9, independent', independent(0.9)],
  ['pass/fail, 0.9, correlated', correlated(0.9)],
  [
    'solved less 0.02 a call',
    (next, gain) => [Number(next() < 0.6) - calls(next), Number(next() < 0.6 + gain) - calls(next)],
  ],
  // Small gains everywhere, a total loss on one task in a hundred; on average the gain, or nothing.
  ['rare disaster', (next, gain) => (next() < 0.01 ? [1, 0] : [0.5, 0.5 + (0.01 + gain) / 0.99])],
]
const CASES = [
  { margin: 0, gain: 0 },
  { margin: 0.02, gain: 0 },
  { margin: 0.02, gain: 0.02 },
]
const bound = binomialBound(GATES, ALPHA)
const RANGE = [-0.25, 1]
let exceeded = 0
table(
  `False promotions of ${GATES} A/A gates at alpha ${ALPHA} (bound: ${bound}, exceeded by chance once in 1,000 rows); in brackets Student's paired t`,
  ['scores', 'tasks', 'margin 0, gain 0', 'margin 0.02, gain 0', 'margin 0.02, gain 0.02'],
  SHAPES.flatMap(([name, draw]) =>
    [200, 400].map((n) => [
      name,
      n,
      ...CASES.map(({ margin, gain }) => {
        const next = random('aa', name, n, margin, gain)
        const gate = pairedGate({ margin, alpha: ALPHA })
        let [ours, students] = [0, 0]
        for (let i = 0; i < GATES; i++) {
          const pairs = times(n, () => draw(next, gain))
          if (decide(gate, pairs, { range: name.startsWith('pass') ? [0, 1] : RANGE }) === 'promote') ours++
          if (
            alternatives.studentT(
              pairs.map(([b, c]) => c - b),
              margin,
              ALPHA,
            )
          )
            students++
        }
        if (ours > bound) exceeded++
        return `${ours} (${students})`
      }),
    ]),
  ),
)
console.log(`\nRows above the bound: ${exceeded}.`)

// 3. Power beside the tests that it could have been.
const RIVALS = [
  ['Student t', alternatives.studentT],
  ['Tango', alternatives.tango],
  ['McNemar', alternatives.mcnemar],
  ['betting, deadline', alternatives.bettingDeadline],
  ['betting, mixture', alternatives.bettingMixture],
  ['betting, aGRAPA', alternatives.bettingAgrapa],
]
const EFFECTS = [
  [0, 0.3, 0],
  [0, 0.1, 0.05],
  [0, 0.3, 0.1],
  [0, 0.5, 0.1],
  [0.02, 0.1, 0.02],
  [0.02, 0.3, 0.02],
  [0.02, 0.1, 0.07],
  [0.02, 0.3, 0.12],
]
table(
  `Probability of a promotion at alpha ${ALPHA}, pass/fail: the gate's exactly, the others' from ${GATES} simulations`,
  ['margin', 'arms disagree', 'true gain', 'tasks', 'the gate', ...RIVALS.map(([name]) => name)],
  EFFECTS.flatMap(([margin, discordant, gain]) =>
    [100, 200, 400].map((tasks) => {
      const [wins, losses] = [(discordant + gain) / 2, (discordant - gain) / 2]
      const next = random('power', margin, discordant, gain, tasks)
      const counts = RIVALS.map(() => 0)
      for (let i = 0; i < GATES; i++) {
        const differences = times(tasks, () => {
          const u = next()
          return u < wins ? 1 : u < discordant ? -1 : 0
        })
        for (const [j, [, test]] of RIVALS.entries()) if (test(differences, margin, ALPHA)) counts[j]++
      }
      const exact = promotionProbability(criticalWins(tasks, margin, ALPHA), { tasks, wins, losses })
      const shares = counts.map((count, j) =>
        RIVALS[j][0] === 'McNemar' && margin !== 0 ? '–' : percent(count / GATES),
      )
      return [margin, discordant, gain, tasks, `**${percent(exact)}**`, ...shares]
    }),
  ),
)

// 4. Graded rewards: power of the gate and of Student's t.
table(
  `Probability of a promotion with graded rewards (solved less 0.02 a call, range [-0.25, 1]), ${GATES / 2} gates, margin 0.02`,
  ['true gain', 'tasks', 'the gate', 'Student t'],
  [0.1, 0.15].flatMap((gain) =>
    [200, 400].map((n) => {
      const next = random('graded', gain, n)
      const gate = pairedGate({ margin: 0.02, alpha: ALPHA })
      let [ours, students] = [0, 0]
      for (let i = 0; i < GATES / 2; i++) {
        const pairs = times(n, () => SHAPES[4][1](next, gain))
        if (decide(gate, pairs, { range: RANGE }) === 'promote') ours++
        if (
          alternatives.studentT(
            pairs.map(([b, c]) => c - b),
            0.02,
            ALPHA,
          )
        )
          students++
      }
      return [gain, n, percent((2 * ours) / GATES), percent((2 * students) / GATES)]
    }),
  ),
)

// 5. One holdout, ten candidates that are no better, one after the other.
async function repeatedly(withLedger) {
  const next = random('repeat')
  const gate = pairedGate({ margin: 0, alpha: ALPHA })
  const tasks = IDS.slice(0, 200).map((id) => ({ id, instruction: '', data: null, split: 'holdout' }))
  let holdouts = 0
  for (let i = 0; i < GATES; i++) {
    const written = []
    const ledger = { append: async (use) => void written.push(use), uses: async () => written }
    const difficulty = times(200, () => next())
    let promoted = false
    for (let candidate = 0; candidate < 10; candidate++) {
      const claimed = await claimHoldout(ledger, { tasks, alpha: ALPHA, run: null, at: 0 })
      const pairs = difficulty.map((rate) => [Number(next() < rate), Number(next() < rate)])
      promoted ||= decide(gate, pairs, { use: withLedger ? claimed : USES.get(200) }) === 'promote'
    }
    if (promoted) holdouts++
  }
  return holdouts
}
table(
  `Holdouts of ${GATES} with a false promotion among ten candidates (bound: ${bound})`,
  ['alpha of use k', 'holdouts with a false promotion'],
  [
    ['alpha · 6/(π²k²), the ledger', await repeatedly(true)],
    ['alpha each time, no ledger', await repeatedly(false)],
  ],
)

// 6. A planted regression: the score is 0.2 better, broken calls grow from 0.05 an attempt.
function plantedGuard(rate, n, width) {
  const next = random('guard', rate, n)
  const guards = {
    brokenCalls: { allowed: 0.02, range: [0, width] },
    noAnswer: { allowed: 0.02, range: [0, 1] },
    tokens: { allowed: 50, range: [0, 4000] },
  }
  const gate = pairedGate({ margin: 0.02, alpha: ALPHA, guards })
  const metrics = (broken) => ({
    brokenCalls: Number(next() < broken),
    noAnswer: Number(next() < 0.03),
    tokens: 200 + 600 * next(),
  })
  const attempt = () => [
    Number(next() < 0.5),
    Number(next() < 0.7),
    { guards: { baseline: metrics(0.05), candidate: metrics(rate) } },
  ]
  const decisions = times(GATES / 4, () => decide(gate, times(n, attempt)))
  return ['reject', 'promote'].map((decision) =>
    percent(decisions.filter((d) => d === decision).length / decisions.length),
  )
}
table(
  `A better candidate (+0.2) with a planted regression of one guard of three (share of attempts with a broken call, 0.05 before, 0.02 more allowed), ${GATES / 4} gates`,
  ['broken after', 'tasks', 'vetoed', 'promoted', 'vetoed if the range was declared [0, 5]'],
  [0.05, 0.07, 0.12, 0.17, 0.22].flatMap((rate) =>
    [200, 400].map((n) => [rate, n, ...plantedGuard(rate, n, 1), plantedGuard(rate, n, 5)[0]]),
  ),
)

// 7. A candidate that is no better, and whose failures get lost.
table(
  `Missing scores: promotions of ${GATES / 2} candidates that are no better (pass/fail, 0.6, 400 tasks, margin 0)`,
  ['what is missing', 'promoted', 'waiting for evidence', 'promoted if missing tasks were dropped'],
  [
    ['nothing', 0, 0],
    ['4 % of either arm at random', 0.04, 0.04],
    ['4 % of tasks, always failures of the candidate', 0, 0.1],
    ['12 % of tasks, always failures of the candidate', 0, 0.3],
  ].map(([name, either, failures]) => {
    const next = random('missing', name)
    const gate = pairedGate({ margin: 0, alpha: ALPHA, minCoverage: 0.9 })
    let [dropped, promoted, waiting] = [0, 0, 0]
    for (let i = 0; i < GATES / 2; i++) {
      const pairs = times(400, () => {
        const [baseline, candidate] = [Number(next() < 0.6), Number(next() < 0.6)]
        const gone = next() < either || (candidate === 0 && next() < failures)
        return [next() < either ? null : baseline, gone ? null : candidate]
      })
      const decision = decide(gate, pairs)
      if (decision === 'promote') promoted++
      if (decision === 'need_more_evidence') waiting++
      const kept = pairs.flatMap(([b, c]) => (b === null || c === null ? [] : [c - b]))
      if (alternatives.mcnemar(kept, 0, ALPHA)) dropped++
    }
    return [name, ...[promoted, waiting, dropped].map((count) => percent((2 * count) / GATES))]
  }),
)
