/**
 * What roles, teams and attempts of different durations need to the same success under their own rules of credit, against
 * plain GRPO; and what milestones, a relative judge and labels of steps bring beside a rare success. The worlds are small and
 * their truth is known (`scripts/credit-evidence/`: roles, members, durations, stages). A softmax policy learns by policy
 * gradient, from real Trajectories credited by the real estimators. Prints progress and, at the end, Markdown.
 *
 *     npx tsc -b && node scripts/team-evidence.mjs [--world roles]
 *
 * Success is computed from the policy, not sampled. A run ends where it reaches the world's target; one that is not there after
 * 300 updates (in a team 600) counts as if it were. Every rule has the rate that it needs the least with on `--tuning` seeds
 * from 1000 on, which are no evidence. Ratios are of what it cost, paired by seed, as geometric means with 95 % bootstrap
 * intervals over seeds; what is named first is what the rate was chosen by. A ratio is a lower bound (≥) where runs of the rule
 * are not there, an upper bound (≤) where runs of the control are not, and not told where both have such runs.
 */
import { parseArgs } from 'node:util'
import { rng, Trajectory } from '../dist/core/index.js'
import { median, ratio, tuned } from './credit-evidence/compare.mjs'
import { durations } from './credit-evidence/durations.mjs'
import { members } from './credit-evidence/members.mjs'
import { gradientOf, Policy } from './credit-evidence/policy.mjs'
import { roles } from './credit-evidence/roles.mjs'
import { stages } from './credit-evidence/stages.mjs'

const { values: flags } = parseArgs({
  options: {
    seeds: { type: 'string', default: '12' },
    /** Of the seeds that are measured: the worlds were settled while others were looked at. */
    first: { type: 'string', default: '101' },
    tuning: { type: 'string', default: '6' },
    rates: { type: 'string', default: '0.05,0.1,0.2,0.4' },
    /** `roles`, `team`, `durations` or `stages`; all where it is empty. */
    world: { type: 'string', default: '' },
  },
})
const [seeds, first, tuning] = [flags.seeds, flags.first, flags.tuning].map(Number)
const rates = flags.rates.split(',').map(Number)
const worlds = [roles, ...members, durations, stages].filter(({ name }) => flags.world === '' || name === flags.world)
if (worlds.length === 0) {
  console.error(`There is no world "${flags.world}": take roles, team, durations or stages.`)
  process.exit(1)
}
const began = Date.now()
const say = (text) => console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`)

/** Updates at most, where the world says nothing else. */
const usualMost = 300

/** Updates until the target, or the most, and what they cost. */
const learnIn = (world) => async (arm, seed, rate) => {
  const policy = new Policy(world.begin, rate)
  const play = world.open(arm, seed)
  const costs = Object.fromEntries(world.costs.map((name) => [name, 0]))
  let worth = world.worth(policy, arm)
  for (let update = 1; update <= (world.most ?? usualMost); update++) {
    const played = await play(policy)
    if (update === 1 && seed === first) Trajectory.parse(played.groups[0].attempts[0].trajectory)
    for (const name of world.costs) costs[name] += played.costs[name]
    const { credits } = await arm.rule.credit(played.groups, { signals: new Map(), rng: rng('context'), asOf: 0 })
    const all = played.groups.flatMap(({ attempts }) => attempts)
    policy.step(gradientOf(policy, all, credits))
    worth = world.worth(policy, arm)
    if (worth >= world.target) return { costs, there: true, worth }
  }
  return { costs, there: false, worth }
}

const allThere = (runs) => runs.every(({ there }) => there)

function against(runs, control, unit) {
  if (!control) return '1'
  const [here, there] = [allThere(runs), allThere(control)]
  if (!here && !there) return '–'
  return `${here ? '' : '≥ '}${there ? '' : '≤ '}${ratio(runs, control, ({ costs }) => costs[unit])}`
}

for (const world of worlds) {
  const [main] = world.costs
  const results = []
  for (const arm of world.arms) {
    const cost = ({ costs }) => costs[main]
    const result = await tuned(learnIn(world), arm, { rates, tuning, first, seeds, cost })
    results.push(result)
    const there = result.runs.filter((run) => run.there).length
    const ends = result.runs.map(({ worth }) => worth.toFixed(2)).join(',')
    say(`${world.title}: ${arm.name}: rate ${result.rate}, ${there}/${result.runs.length} there, worth ${ends}`)
  }
  const columns = world.costs.map((name) => `${name} against the control`)
  console.log(`\n**${world.title}** (target ${100 * world.target} %)\n`)
  console.log(`| rule | rate | there | median ${world.costs.join(', ')} | ${columns.join(' | ')} |`)
  console.log(`|---|---|---|---|${world.costs.map(() => '---|').join('')}`)
  for (const { name, rate, runs, control } of results) {
    const there = `${runs.filter((run) => run.there).length} of ${runs.length}`
    const medians = world.costs.map((unit) => Math.round(median(runs.map(({ costs }) => costs[unit]))))
    const other = results.find((result) => result.name === control)
    const ratios = world.costs.map((unit) => against(runs, other?.runs, unit))
    console.log(`| ${name} | ${rate} | ${there} | ${medians.join(', ')} | ${ratios.join(' | ')} |`)
  }
}
