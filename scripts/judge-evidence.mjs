import { rng } from '../dist/core/index.js'
import { truthAbove, wilson } from '../dist/gate/index.js'
import { percent, table, times } from './evidence.mjs'

const ALPHA = 0.05
const SHOWN = -Math.log(ALPHA)
const LABELS = 200
const LABELLED = 0.05
const ASKED = 0.5

/** How often it says the truth, which is its correlation, and how many points more often it says "right" of the candidate. */
const JUDGES = [
  ['none', null],
  ['tells nothing (r 0)', { r: 0 }],
  ['r 0.3', { r: 0.3 }],
  ['r 0.6', { r: 0.6 }],
  ['r 0.9', { r: 0.9 }],
  ['r 0.4, favours the candidate by 30 points', { r: 0.4, favours: 0.3 }],
  ['favours the candidate always: "right" of it, "wrong" of the other', { r: 0, favours: 0.5, spites: 0.5 }],
]

/** Sessions of one canary; what serves is right one time in two. */
function* observations(next, effect, judge) {
  for (let labels = 0; labels < LABELS; ) {
    const candidate = next() < 0.5
    const right = 0.5 + (candidate ? effect : 0)
    const truth = Number(next() < right)
    const place = next()
    const drawn = place < LABELLED
    if (drawn) labels++
    const seen = { candidate, propensity: 0.5, probability: LABELLED, drawn, truth, features: [] }
    if (judge === null) yield seen
    else {
      const { r, favours = 0, spites = 0 } = judge
      const bias = (candidate ? favours : -spites) / (1 - r)
      const says = next() < r ? truth : Number(next() < right + bias)
      yield { ...seen, judge: { probability: ASKED, word: place < ASKED ? [says, 0] : null } }
    }
  }
}

/** A judge beside few labels: wrong promotions, and what it saves. */
export function judgeTables({ seed, canaries }) {
  const fewer = Math.ceil(canaries / 5)
  const lives = (name, effect, judge, count) => {
    const stream = rng('judge-evidence', seed, name, effect)
    const next = () => stream.next()
    return times(count, () => truthAbove(observations(next, effect, judge), 0, SHOWN).shownAfter)
  }
  const within = (count, n) => {
    const [low, high] = wilson(count, n, 0.95)
    return `${percent(count / n)} [${percent(low)}, ${percent(high)}]`
  }
  const shown = (all) => all.filter((labels) => labels !== null)
  table(
    `A judge that is asked about half of the sessions, and ${percent(LABELLED)} labelled, until ${LABELS} labels, level ${ALPHA}, looked at after every session; ${canaries} canaries a row of equal candidates and of worse ones, ${fewer} of better ones. Shown within ${LABELS} labels, and after how many in half of those`,
    [
      'judge',
      'equal: shown wrongly, with its 95 % interval',
      '10 points worse: shown wrongly',
      ...['10', '20', '30'].map((points) => `${points} points better: shown (labels)`),
    ],
    JUDGES.map(([name, judge]) => [
      name,
      within(shown(lives(name, 0, judge, canaries)).length, canaries),
      percent(shown(lives(name, -0.1, judge, canaries)).length / canaries),
      ...[0.1, 0.2, 0.3].map((effect) => {
        const found = shown(lives(name, effect, judge, fewer)).toSorted((a, b) => a - b)
        const median = found.length === 0 ? '–' : found[Math.floor(found.length / 2)]
        return `${percent(found.length / fewer)} (${median})`
      }),
    ]),
  )
}
