/**
 * What a learned reward knows beyond a constant, how often it is refused, and how often checks of a judge find its bias.
 *
 *   node scripts/reward-evidence.mjs [seeds]         the three tables below
 *   node scripts/reward-evidence.mjs [seeds] hidden  a regression beside a layer of eight units
 *
 * Learned reward: simulated people accept or reject answers of eight features. Their true chance to accept is
 * σ(3·w·x) for a direction w of the seed; each says the opposite with a known chance (the noise; 0.5 is noise alone). A model
 * learns from 40 people who judged 8 answers each, and is tried on 200 fresh people. Control: the share of what the same 40
 * accepted, told of everything. Told: of how many seeds a model was taken; its Brier score less the constant's, mean over the
 * seeds where it was taken with a 95 % t interval, from 10 seeds on; its area under the curve; and the Brier score of who knows every true chance.
 * In "own leniency" each person has an offset of their own (standard deviation 1).
 *
 * Hidden: the same people, where the chance is σ(3·w·x), or σ(2·x₁·x₂) of two features together, or 0.5. Told: of how many seeds
 * a model was taken, and its Brier score on fresh people less the constant's.
 *
 * Judge: a scripted judge scores attempts by their merit with noise of a standard deviation of 0.1, and adds a known bias. Told:
 * of how many judges each check calls it biased (Wilson's 95 % interval), by 30 pairs of attempts.
 */
import { rng } from '../dist/core/index.js'
import { wilson } from '../dist/gate/index.js'
import { acceptance, auc, brier, checkJudge, fitRewardModel } from '../dist/reward/index.js'

const seeds = Number(process.argv[2] ?? 100)
const sigmoid = (z) => 1 / (1 + Math.exp(-z))
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
const gauss = (random) => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())

function people(seed, name, { subjects, each, noise, lenient, base = 0 }) {
  const direction = rng('direction', seed)
  const raw = Array.from({ length: 8 }, () => gauss(direction))
  const length = Math.hypot(...raw)
  const random = rng('people', seed, name)
  return Array.from({ length: subjects }, (_, s) => {
    const own = lenient ? gauss(random) : 0
    return Array.from({ length: each }, () => {
      const features = raw.map(() => gauss(random))
      const chance = sigmoid(base + own + (3 / length) * features.reduce((sum, x, i) => sum + x * raw[i], 0))
      const known = noise === 0.5 ? 0.5 : chance * (1 - noise) + (1 - chance) * noise
      return { subject: `${name}${s}`, features, chance: known, accepted: random.next() < known }
    })
  }).flat()
}

function interval(values) {
  if (values.length === 0) return '–'
  // So few say nothing of how they spread.
  if (values.length < 10) return mean(values).toFixed(3)
  const middle = mean(values)
  const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1))
  // Student's t at 97.5 %, rounded up: of 9 and of 29 degrees.
  const half = ((values.length < 30 ? 2.27 : 2.05) * sd) / Math.sqrt(values.length)
  return `${middle.toFixed(3)} [${(middle - half).toFixed(3)}, ${(middle + half).toFixed(3)}]`
}

if (process.argv[3] === 'hidden') {
  hiddenEvidence()
  process.exit()
}

function hiddenEvidence() {
  const worlds = {
    'a sum of features': (features, w) => sigmoid(3 * features.reduce((sum, x, i) => sum + x * w[i], 0)),
    'a product of two': ([a, b]) => sigmoid(2 * a * b),
    'no feature': () => 0.5,
  }
  const judged = (seed, name, subjects, chanceOf) => {
    const direction = rng('direction', seed)
    const raw = Array.from({ length: 8 }, () => gauss(direction))
    const w = raw.map((value) => value / Math.hypot(...raw))
    const random = rng('hidden', seed, name)
    return Array.from({ length: subjects * 8 }, (_, i) => {
      const features = raw.map(() => gauss(random))
      return { subject: `${name}${i % subjects}`, features, accepted: random.next() < chanceOf(features, w) }
    })
  }
  console.log('| accepted by | model | taken | Brier less the constant’s |')
  console.log('|---|---|---|---|')
  for (const [world, chanceOf] of Object.entries(worlds)) {
    for (const hidden of [0, 8]) {
      const gains = []
      for (let seed = 0; seed < seeds; seed++) {
        const examples = judged(seed, 'a', 40, chanceOf)
        const fitted = fitRewardModel(examples, { features: 'simulated', seed, hidden })
        if (fitted.status === 'refused') continue
        const fresh = judged(seed, 'b', 200, chanceOf)
        const share = mean(examples.map(({ accepted }) => Number(accepted)))
        const by = (told) => brier(fresh.map((one) => ({ told: told(one), truth: Number(one.accepted) })))
        gains.push(by(({ features }) => acceptance(fitted.model, features)) - by(() => share))
      }
      const [low, high] = wilson(gains.length, seeds, 0.95)
      const taken = `${gains.length} of ${seeds} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}] %`
      const model = hidden === 0 ? 'regression' : `${hidden} hidden units`
      console.log(`| ${world} | ${model} | ${taken} | ${interval(gains)} |`)
    }
  }
}

console.log(
  '| people | noise | taken | Brier less the constant’s | area under the curve | Brier, constant | Brier, all known |',
)
console.log('|---|---|---|---|---|---|---|')
for (const lenient of [false, true]) {
  for (const noise of [0, 0.1, 0.2, 0.3, 0.4]) {
    const rows = []
    let taken = 0
    for (let seed = 0; seed < seeds; seed++) {
      const examples = people(seed, 'a', { subjects: 40, each: 8, noise, lenient })
      const fitted = fitRewardModel(examples, { features: 'simulated', seed })
      const fresh = people(seed, 'b', { subjects: 200, each: 8, noise, lenient })
      const constant = mean(examples.map(({ accepted }) => Number(accepted)))
      const by = (told) => fresh.map((one) => ({ told: told(one), truth: Number(one.accepted) }))
      const control = brier(by(() => constant))
      const known = brier(by(({ chance }) => chance))
      if (fitted.status === 'fitted') {
        taken += 1
        const own = by(({ features }) => acceptance(fitted.model, features))
        rows.push({ gain: brier(own) - control, area: auc(own) ?? 0.5, control, known })
      } else rows.push({ gain: null, control, known })
    }
    const had = rows.filter(({ gain }) => gain !== null)
    console.log(
      `| ${lenient ? 'own leniency' : 'alike'} | ${noise} | ${taken} of ${seeds} | ${interval(had.map(({ gain }) => gain))} | ${interval(had.map(({ area }) => area))} | ${mean(rows.map(({ control }) => control)).toFixed(3)} | ${mean(rows.map(({ known }) => known)).toFixed(3)} |`,
    )
  }
}

console.log('\n| noise alone | people × answers | accepted | calibration | refused |')
console.log('|---|---|---|---|---|')
const wholly = { noise: 0.5, lenient: false }
for (const [subjects, each, share, calibration] of [
  [40, 8, 0.5, 'platt'],
  [40, 8, 0.8, 'platt'],
  [12, 40, 0.5, 'platt'],
  [100, 4, 0.5, 'platt'],
  [40, 8, 0.5, 'isotonic'],
]) {
  let refused = 0
  for (let seed = 0; seed < 2 * seeds; seed++) {
    const random = rng('share', seed)
    const examples = people(seed, 'n', { subjects, each, ...wholly }).map((one) => ({
      ...one,
      accepted: random.next() < share,
    }))
    if (fitRewardModel(examples, { features: 'simulated', calibration, seed }).status === 'refused') refused += 1
  }
  const [low, high] = wilson(refused, 2 * seeds, 0.95)
  console.log(
    `| no feature tells anything | ${subjects} × ${each} | ${100 * share} % | ${calibration} | ${refused} of ${2 * seeds} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}] % |`,
  )
}

/** An attempt is its merit and how long it is; the judge reads nothing else. */
const attempt = (id, merit) => ({
  id,
  merit,
  nodes: [
    { id: 'q', parent: null, spans: [], message: { role: 'user', content: 'Do it.' } },
    { id: 'a', parent: 'q', spans: [], message: { role: 'assistant', content: `Attempt ${id}.` } },
  ],
})
const lengthOf = ({ nodes }) => nodes[1].message.content.length

console.log('\n| judge | identical | position | length | any |')
console.log('|---|---|---|---|---|')
for (const [name, place, longer] of [
  ['unbiased', 0, 0],
  ['+0.05 for the first', 0.05, 0],
  ['+0.1 for the first', 0.1, 0],
  ['+0.05 for the longer', 0, 0.05],
  ['+0.1 for the longer', 0, 0.1],
]) {
  const found = { identical: 0, position: 0, length: 0, any: 0 }
  for (let seed = 0; seed < 5 * seeds; seed++) {
    const random = rng('judge', name, seed)
    const pairs = Array.from({ length: 30 }, (_, i) => [
      attempt(`${i}a`, 0.3 + 0.4 * random.next()),
      attempt(`${i}b`, 0.3 + 0.4 * random.next()),
    ])
    const judge = async (attempts) => {
      const longest = Math.max(...attempts.map(lengthOf))
      const differ = attempts.some((one) => lengthOf(one) !== longest)
      return attempts.map((one, i) => {
        const taste = (i === 0 ? place : 0) + (differ && lengthOf(one) === longest ? longer : 0)
        return Math.min(1, Math.max(0, one.merit + taste + 0.1 * gauss(random)))
      })
    }
    const report = await checkJudge(judge, pairs)
    for (const check of ['identical', 'position', 'length']) if (report[check].biased) found[check] += 1
    if (!report.unbiased) found.any += 1
  }
  const told = (n) => {
    const [low, high] = wilson(n, 5 * seeds, 0.95)
    return `${((100 * n) / (5 * seeds)).toFixed(1)} % [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`
  }
  console.log(
    `| ${name} | ${['identical', 'position', 'length', 'any'].map((check) => told(found[check])).join(' | ')} |`,
  )
}
