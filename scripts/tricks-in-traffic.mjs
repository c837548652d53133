/**
 * An agent that learns from its traffic and stumbles on a trick: one of its five manners, so that a session in five meets it
 * at first. Lives of some cycles each (sessions, a run that learns from them, a canary), with the truth known, as a Markdown
 * table; with `--out` one JSON row a life.
 *
 *     npx tsc -b && node scripts/tricks-in-traffic.mjs [--seeds N] [--classes a,b] [--arms …] [--out FILE] [--resume]
 *
 * - Seeds go round the classes: each life meets one trick. The arms of a seed meet the same crowd.
 * - `--quick`: one short life an arm, in seconds; its figures say nothing.
 * - What learns is a `choice` by REINFORCE: the cheapest part that the product's own path can move within minutes.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { percent, table } from './evidence.mjs'
import { shown } from './kinds-evidence/intervals.mjs'
import { classesOf, HALVES } from './red-team/classes.mjs'
import { ARMS, live } from './red-team/life.mjs'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '6' },
    first: { type: 'string', default: '1' },
    cycles: { type: 'string', default: '3' },
    arms: { type: 'string', default: Object.keys(ARMS).join(',') },
    classes: {
      type: 'string',
      // Of those that people reward most: by hand, thumbs or thanks.
      default: 'asks-for-thanks,pleads-for-its-job,hands-words-back,praises-people,fishes-for-easy-ones,asks-for-ok',
    },
    crowd: { type: 'string', default: 'mixed' },
    out: { type: 'string' },
    resume: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
})
const LIMITS = values.quick
  ? { batch: 80, candidates: 50, labels: 40, measured: 50 }
  : { batch: 500, candidates: 500, labels: 600, measured: 1_000 }
const BASE = 0.5
/** These compare lengths, and stop any trick that adds a sentence to a short answer: here other tricks stand for those. */
const WITHOUT = ['cost', 'seconds']

const known = await classesOf(HALVES)
const tricks = values.classes.split(',').map((name) => {
  const trick = known.find((one) => one.name === name)
  if (!trick) throw new Error(`"${name}" is no class of tricks`)
  return trick
})
const arms = values.arms.split(',')
const wrong = arms.find((arm) => !(arm in ARMS))
if (wrong !== undefined) throw new Error(`"${wrong}" is no arm: ${Object.keys(ARMS).join(', ')}`)

const rows =
  values.resume && values.out && existsSync(values.out)
    ? readFileSync(values.out, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []
const first = Number(values.first)
for (let seed = first; seed < first + Number(values.seeds); seed++) {
  const trick = tricks[(seed - 1) % tricks.length]
  for (const arm of arms) {
    if (rows.some((row) => row.seed === seed && row.arm === arm)) continue
    const cycles = values.quick ? 1 : Number(values.cycles)
    const life = await live({
      arm,
      trick,
      crowd: values.crowd,
      base: BASE,
      seed,
      cycles,
      limits: LIMITS,
      without: WITHOUT,
    })
    rows.push({ seed, class: trick.name, arm, ...life })
    if (values.out) writeFileSync(values.out, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }
}

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0)
const mean = (numbers) => sum(numbers) / numbers.length
/** The mean over seeds with its 95 % interval, in points. */
const within = (points) => (points.length < 2 ? (100 * mean(points)).toFixed(1) : shown(points))

const control = new Map(rows.filter(({ arm }) => arm === 'no learning').map((row) => [row.seed, row.after]))
table(
  `Right after ${values.cycles} cycles, ${values.seeds} lives an arm, ${LIMITS.measured} sessions each; one manner of five is a trick`,
  [
    'learning',
    'right',
    'points above the control, with the 95 % interval over lives',
    'lives below the control',
    'sessions with the trick',
    'with the best manner',
    'promoted / rolled back / given up',
    'labels a life: median',
  ],
  arms.map((arm) => {
    const own = rows.filter((row) => row.arm === arm)
    const differences = own.flatMap(({ seed, after }) => (control.has(seed) ? [after - control.get(seed)] : []))
    const outcomes = own.flatMap(({ cycles }) => cycles)
    const count = (outcome) => outcomes.filter((one) => one.outcome === outcome).length
    const labels = own.map(({ cycles }) => sum(cycles.map((one) => one.labels ?? 0))).toSorted((a, b) => a - b)
    return [
      arm,
      percent(mean(own.map(({ after }) => after))),
      arm === 'no learning' || differences.length === 0 ? '–' : within(differences),
      arm === 'no learning' ? '–' : `${differences.filter((one) => one < 0).length} of ${differences.length}`,
      percent(mean(own.map(({ trick }) => trick))),
      percent(mean(own.map(({ best }) => best))),
      `${count('promoted')} / ${count('rolled-back')} / ${count('ended')}`,
      labels[Math.floor(labels.length / 2)],
    ]
  }),
)
table(
  'By life: points above the control',
  ['trick', ...arms.filter((arm) => arm !== 'no learning')],
  [...new Set(rows.map(({ seed }) => seed))].map((seed) => [
    rows.find((row) => row.seed === seed)?.class,
    ...arms
      .filter((arm) => arm !== 'no learning')
      .map((arm) => {
        const row = rows.find((one) => one.seed === seed && one.arm === arm)
        return row && control.has(seed) ? (100 * (row.after - control.get(seed))).toFixed(1) : '–'
      }),
  ]),
)
