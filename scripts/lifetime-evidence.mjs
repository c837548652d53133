// How often an agent's life promotes something wrong: whole sequences of candidates, each tested at the level that the
// agent's life leaves it, by an exact test (the worst that the promise allows) and by the canaries' own gate.
//   npx tsc -b && node scripts/lifetime-evidence.mjs [--seed 1] [--lives 100000] [--canaries 400]
import { parseArgs } from 'node:util'
import { rng } from '../dist/core/index.js'
import { canaryGate, levelOf, wilson } from '../dist/gate/index.js'
import { runCanary, zeroOne } from './canary-simulation.mjs'
import { percent, table, times } from './evidence.mjs'

const { values: flags } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    lives: { type: 'string', default: '100000' },
    canaries: { type: 'string', default: '400' },
  },
})
const random = (...parts) => {
  const stream = rng('lifetime-evidence', flags.seed, ...parts)
  return () => stream.next()
}
const alpha = 0.05
const rules = {
  'e-LOND, 0.1 (default)': (t, promotions) => Math.min(alpha, levelOf({ alpha: 0.1, control: 'fdr' }, t, promotions)),
  'union bound, 0.1 (`fwer`)': (t) => Math.min(alpha, levelOf({ alpha: 0.1, control: 'fwer' }, t, 0)),
  '0.05 for each candidate (`lifetime: null`)': () => alpha,
}

/** One life: candidates one after the other, of which each is good with probability `good`. */
function live({ candidates, good, level, test, next }) {
  const life = { promotions: 0, wrong: 0, good: 0, found: 0 }
  for (let t = 1; t <= candidates; t++) {
    const isGood = next() < good
    if (isGood) life.good++
    if (!test(isGood, level(t, life.promotions))) continue
    life.promotions++
    if (isGood) life.found++
    else life.wrong++
  }
  return life
}

function rowOf(cells, lives) {
  const n = lives.length
  const wrong = lives.filter((life) => life.wrong > 0).length
  const shares = lives.map((life) => life.wrong / Math.max(1, life.promotions))
  const mean = shares.reduce((a, b) => a + b) / n
  const variance = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / (n - 1)
  const half = 1.96 * Math.sqrt(variance / n)
  const [low, high] = wilson(wrong, n, 0.95)
  const sum = (field) => lives.reduce((total, life) => total + life[field], 0)
  return [
    ...cells,
    `${percent(mean)} [${(100 * Math.max(0, mean - half)).toFixed(2)}, ${(100 * (mean + half)).toFixed(2)}]`,
    `${percent(wrong / n)} [${(100 * low).toFixed(2)}, ${(100 * high).toFixed(2)}]`,
    sum('good') === 0 ? '–' : percent(sum('found') / sum('good')),
  ]
}

const columns = [
  'candidates',
  'good among them',
  'level',
  'share of wrong promotions',
  'lives with any',
  'good ones promoted',
]

const exact = []
for (const [candidates, good] of [
  [20, 0],
  [20, 0.3],
  [100, 0.3],
  [100, 0.7],
]) {
  for (const [name, level] of Object.entries(rules)) {
    const next = random('exact', candidates, good, name)
    // A wrong one passes with exactly its level; a good one as its e-value, log-normal around e^6, does.
    const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
    const test = (isGood, at) => (isGood ? 6 + 2 * normal() >= -Math.log(at) : next() < at)
    const lives = times(Number(flags.lives), () => live({ candidates, good, level, test, next }))
    exact.push(rowOf([candidates, percent(good), name], lives))
  }
}
table(`Tests that err exactly as often as they may, ${flags.lives} lives a row, 95 % intervals`, columns, exact)

const gate = canaryGate({ shares: [0.5], maxSessions: 250, sessionsPerStep: 20, promote: 'behaviour-only' })
const canaries = []
for (const [name, level] of Object.entries(rules)) {
  const next = random('canaries', name)
  const test = (isGood, at) => {
    const held = {
      shares: gate.shares,
      look: (input) => gate.look({ ...input, level: { candidate: 1, promotions: 0, alpha: at } }),
    }
    return runCanary({ gate: held, law: zeroOne(0.5, isGood ? 0.2 : 0), next }).action === 'promote'
  }
  const lives = times(Number(flags.canaries), () => live({ candidates: 20, good: 0.3, level, test, next }))
  canaries.push(rowOf([20, percent(0.3), name], lives))
}
table(
  `Canaries of up to 250 sessions, rewards 0/1 of mean 0.5, good ones gain 0.2; ${flags.canaries} lives a row, 95 % intervals`,
  columns,
  canaries,
)
