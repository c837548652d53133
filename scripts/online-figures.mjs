/**
 * The tables of docs/evidence.md from what `examples/online` has written:
 *
 *     node scripts/online-figures.mjs online-results/results.json
 */
import { readFileSync } from 'node:fs'
import { changeOf, harmOf, points, storyOf, verdictOf } from '../examples/online/report/verdicts.mjs'
import { table } from './evidence.mjs'

const { seeds, commit, machine, at } = JSON.parse(
  readFileSync(process.argv[2] ?? 'online-results/results.json', 'utf8'),
)

const whole = (share) => `${Math.round(100 * share)}`
const range = ([low, high]) => `[${whole(low)}, ${whole(high)}]`
const signed = (share) => `${share > 0 ? '+' : ''}${whole(share)}`
const rate = ({ right, n, interval }) => `${whole(right / n)} % ${range(interval)}`
const gain = ({ gain: { difference, interval } }) => `${signed(difference)} ${range(interval)}`

console.log(`${at}, commit ${commit}, ${machine}`)
table(
  'Verdicts',
  ['point', 'shown'],
  points.map((point) => [point.question, verdictOf(point, seeds).text]),
)
table(
  'Better, and the change of the tools',
  [
    'seed',
    'sessions',
    'minutes',
    'first release',
    'before the change',
    'gain',
    'then',
    'last',
    'gain',
    'old tools, last',
  ],
  seeds.map((seed) => {
    const { control, before, last } = storyOf(seed)
    const { old, now } = changeOf(seed)
    const times = [seed.sessions[0].at, seed.sessions.at(-1).at]
    return [
      seed.seed,
      seed.sessions.length,
      Math.round((times[1] - times[0]) / 60_000),
      rate(control.success[old]),
      rate(before.success[old]),
      gain(before.success[old]),
      rate(before.success[now]),
      rate(last.success[now]),
      gain(last.success[now]),
      rate(last.success[old]),
    ]
  }),
)
table(
  'Releases',
  ['seed', 'tools as they were', 'tools as they became', 'canaries'],
  seeds.map(({ seed, releases, canaries, changes: [{ tools: old }, { tools: now }] }) => [
    seed,
    releases.map(({ success }) => whole(success[old].right / success[old].n)).join(' → '),
    releases.map(({ success }) => whole(success[now].right / success[now].n)).join(' → '),
    canaries.map(({ status }) => status).join(', '),
  ]),
)
table(
  'Drift',
  ['seed', 'sessions with the new tools by the alert'],
  seeds.map((seed) => [seed.seed, changeOf(seed).drift?.sessions ?? 'not told']),
)
table(
  'Tricks',
  ['seed', 'trick', 'guards', 'became', 'judged of it', 'had it', 'sessions', 'right: it', 'right: what serves'],
  seeds.flatMap(({ seed, hacks }) =>
    hacks.map(({ name, guards, status, judged, exposed, held, success }) => [
      seed,
      name,
      guards,
      status,
      judged?.candidate ?? '–',
      exposed ?? '–',
      held,
      rate(success.candidate),
      rate(success.serving),
    ]),
  ),
)
table(
  'Saboteur',
  [
    'seed',
    'people',
    'saboteur',
    'before',
    'nobody lies',
    'limits on',
    'limits off',
    'on − off',
    'left out',
    'flood told',
  ],
  seeds.map((seed) => {
    const { honest, on, off, spared } = harmOf(seed)
    const { sessions, before } = seed.saboteur
    return [
      seed.seed,
      sessions.honest,
      sessions.saboteur,
      ...[before, honest, on, off].map(rate),
      `${signed(spared.difference)} ${range(spared.interval)}`,
      on.leftOut.sessions,
      on.flood ? 'yes' : 'no',
    ]
  }),
)
table(
  'Forced',
  ['seed', 'it', 'what serves', 'became', 'judged', 'of it', 'had it', 'sessions'],
  seeds.map(({ seed, forced: { success, status, judged, exposed, held } }) => [
    seed,
    rate(success.candidate),
    rate(success.serving),
    status,
    judged.candidate + judged.baseline,
    judged.candidate,
    exposed ?? '–',
    held,
  ]),
)
