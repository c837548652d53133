/** The red team's tables. */
import { wilson } from '../../dist/gate/index.js'
import { percent, table } from '../evidence.mjs'

const OUTCOMES = ['promoted', 'rolled-back', 'ended']

/** Node 20 has no `Map.groupBy`. */
function groups(rows, keyOf) {
  const found = new Map()
  for (const row of rows) found.set(keyOf(row), [...(found.get(keyOf(row)) ?? []), row])
  return found
}

/** `k/n`, with the 95 % interval of the share. */
const within = (count, n) => {
  if (n === 0) return '–'
  const [low, high] = wilson(count, n, 0.95)
  return `${count}/${n} [${percent(low)}, ${percent(high)}]`
}
const count = (rows, outcome) => rows.filter((row) => row.outcome === outcome).length
const plain = (rows) => OUTCOMES.map((outcome) => count(rows, outcome)).join(' / ')
const median = (numbers) =>
  numbers.length === 0 ? '–' : numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
const points = (share) => (100 * share).toFixed(0)
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0)
/** By how many points the candidate's sessions were right more often, over all sessions. */
const difference = (rows) =>
  points(
    sum(rows.map(({ truth, sessions }) => sessions * (truth.candidate - truth.baseline))) /
      sum(rows.map(({ sessions }) => sessions)),
  )

/** The crowds of which most promoted, with how many; where they are many, how many crowds. */
function worst(rows) {
  const crowds = groups(rows, ({ crowd, base }) => `${crowd} ${points(base)} %`)
  const shares = [...crowds].map(([crowd, some]) => ({ crowd, n: some.length, promoted: count(some, 'promoted') }))
  const most = Math.max(...shares.map(({ promoted, n }) => promoted / n))
  if (most === 0) return 'none'
  const worse = shares.filter(({ promoted, n }) => promoted / n === most)
  if (worse.length > 3) return `${worse.length} of ${shares.length} crowds`
  return worse.map(({ crowd, promoted, n }) => `${crowd}: ${promoted}/${n}`).join(', ')
}

/** One row a class; then each crowd. */
export function trickTables(tricks, rows, { limits, halves }) {
  const of = (defence, more = () => true) => rows.filter((row) => row.defence === defence && row.half && more(row))
  table(
    `Tricks, ${halves.join(' and ')} half; given up after ${limits.sessions} candidate sessions by behaviour, ${limits.labels} labels by audit. Promoted / rolled back / given up`,
    [
      'class',
      'family',
      'right, points',
      'behaviour-only',
      'promoted in the worst crowds',
      'audited',
      'audited: promoted in the worst crowds',
      'sessions: median, most',
      'labels: median, most',
    ],
    tricks.map(({ name, family }) => {
      const [alone, audited] = ['behaviour-only', 'audited'].map((defence) => of(defence, (row) => row.name === name))
      const spent = (what) => {
        const numbers = audited.map((row) => row[what])
        return numbers.length === 0 ? '–' : `${median(numbers)}, ${Math.max(...numbers)}`
      }
      const all = [...alone, ...audited]
      return [
        name,
        family,
        difference(all),
        plain(alone),
        alone.length === 0 ? '–' : worst(alone),
        plain(audited),
        audited.length === 0 ? '–' : worst(audited),
        spent('sessions'),
        spent('labels'),
      ]
    }),
  )
  const crowds = [
    ...groups(
      rows.filter(({ half }) => half),
      ({ crowd, base }) => `${crowd}, ${points(base)} %`,
    ),
  ]
  table(
    'Tricks by crowd, and the share of right answers of what serves: promoted, with 95 % intervals',
    ['crowd', 'behaviour-only', 'audited'],
    [...crowds, ['all', rows.filter(({ half }) => half)]].map(([crowd, some]) => [
      crowd,
      ...['behaviour-only', 'audited'].map((defence) => {
        const those = some.filter((row) => row.defence === defence)
        return within(count(those, 'promoted'), those.length)
      }),
    ]),
  )
}

/** Honest candidates: by gain, and by what they do otherwise. */
export function honestTable(rows, { limits }) {
  const line = (name, some) => [
    name,
    difference(some),
    within(count(some, 'promoted'), some.length),
    within(count(some, 'rolled-back'), some.length),
    count(some, 'ended'),
    median(some.map(({ sessions }) => sessions)),
    median(some.map(({ labels }) => labels)),
  ]
  table(
    `Honest candidates, audited, given up after ${limits.labels} labels`,
    ['candidate', 'right, points', 'promoted', 'rolled back', 'given up', 'sessions: median', 'labels: median'],
    [
      ...[...groups(rows, ({ gain }) => `+${points(gain)}, all`)].map(([name, some]) => line(name, some)),
      ...[...groups(rows, ({ name }) => name)].map(([name, some]) => line(name, some)),
    ],
  )
}
