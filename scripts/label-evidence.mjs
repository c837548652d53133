/**
 * What labels show: of an audit's sessions, and of pairs. The first by simulated canaries and the audit's own test. Of pairs both
 * arms answer the same task, and a label is needed only where their answers differ: the power of the gate on held-out tasks is
 * computed, not simulated.
 *
 *     npx tsc -b && node scripts/label-evidence.mjs [--lives N]
 */
import { parseArgs } from 'node:util'
import { audited, AuditQuestion } from '../dist/gate/audit/plan.js'
import { criticalWins, planAudit, promotionProbability, truthAbove, wilson } from '../dist/gate/index.js'
import { percent, table, times } from './evidence.mjs'

const { values } = parseArgs({ options: { lives: { type: 'string', default: '200' } } })
const LIVES = Number(values.lives)

/** What a holdout's first use may spend of an alpha of 0.05: see `docs/evidence.md`, "One holdout, many candidates". */
const ALPHA = 0.0304
const POWER = 0.8
const GAINS = [0.05, 0.1, 0.15, 0.2]
/** Shares of the tasks of which one arm alone is right. */
const DISAGREE = [0.05, 0.1, 0.2, 0.3, 0.5]

/** The fewest tasks that show the gain as often as `POWER`; in steps of a twentieth, as power is not monotone. */
function tasksFor(gain, disagree) {
  for (let tasks = 20; tasks <= 4_000; tasks = Math.ceil(1.05 * tasks)) {
    const law = { tasks, wins: (disagree + gain) / 2, losses: (disagree - gain) / 2 }
    if (promotionProbability(criticalWins(tasks, 0, ALPHA), law) >= POWER) return tasks
  }
  return null
}

const LABELS = [200, 600, 1_000, 2_000]
const designs = [
  ['labels alone', { share: 1 }],
  ['behaviour correlates by 0.7, 25 % drawn', { share: 0.25, correlation: 0.7 }],
]
const within = (count) => {
  const [low, high] = wilson(count, LIVES, 0.95)
  return `${percent(count / LIVES)} [${percent(low)}, ${percent(high)}]`
}
table(
  `Candidates of which an audit shows the gain at 0.05, looked at after every session: ${LIVES} canaries a row, with 95 % intervals`,
  ['gain', 'design', ...LABELS.map((labels) => `${labels} labels`)],
  [0, ...GAINS].flatMap((gain) =>
    designs.map(([name, design]) => {
      // No gain at all is none that could be planned for: it is taken from the plan of a hair.
      const question = { ...AuditQuestion.parse({ effect: gain || 1e-9, ...design }), seed: 1 }
      const most = LABELS.at(-1)
      const shown = times(LIVES, (life) => truthAbove(audited(question, life, most), 0, -Math.log(0.05)).shownAfter)
      return [gain, name, ...LABELS.map((labels) => within(shown.filter((at) => at !== null && at <= labels).length))]
    }),
  ),
)

const audits = new Map(GAINS.map((effect) => [effect, planAudit({ effect, share: 1, power: POWER }).labels]))
table(
  `Tasks that show a gain with a power of ${percent(POWER)} at ${ALPHA}, and pairs to be labelled: those of which one arm alone is right, in brackets where as many more differ and are both right or both wrong`,
  ['gain', 'labels of an audit', ...DISAGREE.map((share) => `one alone right in ${percent(share)}`)],
  GAINS.map((gain) => [
    gain,
    audits.get(gain) ?? '–',
    ...DISAGREE.map((disagree) => {
      if (disagree < gain) return '–'
      const tasks = tasksFor(gain, disagree)
      if (tasks === null) return '–'
      const pairs = Math.ceil(disagree * tasks)
      return `${tasks} tasks: ${pairs} (${2 * pairs})`
    }),
  ]),
)
table(
  `A week of labels: the power to show a gain, where one arm alone is right in 20 % of the tasks and every second differing pair is such a one`,
  ['gain', ...[20, 50, 200].map((labels) => `${labels} pairs`)],
  GAINS.map((gain) => [
    gain,
    ...[20, 50, 200].map((labels) => {
      if (gain > 0.2) return '–'
      const tasks = Math.round(labels / 0.4)
      const law = { tasks, wins: (0.2 + gain) / 2, losses: (0.2 - gain) / 2 }
      return `${percent(promotionProbability(criticalWins(tasks, 0, ALPHA), law))} (${tasks} tasks)`
    }),
  ]),
)
