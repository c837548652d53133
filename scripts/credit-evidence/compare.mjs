/** How rules are compared: each with the rate that suits it, by what they need to the same success, paired by seed. */
import { rng } from '../../dist/core/index.js'

const logMean = (values) => values.reduce((sum, each) => sum + Math.log(each), 0) / values.length
export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

/** Runs of the seeds from `first` on. @param learn (arm, seed, rate) → a run */
async function runsOf(learn, arm, { first, count, rate }) {
  const runs = []
  for (let seed = first; seed < first + count; seed++) runs.push(await learn(arm, seed, rate))
  return runs
}

/**
 * An arm with the rate that it needs the least with on `tuning` seeds from 1000 on, and its runs of so many seeds from `first`
 * on, which are others.
 * @param cost of a run: what is compared
 */
export async function tuned(learn, arm, { rates, tuning, first = 0, seeds, cost }) {
  let best = null
  for (const rate of rates) {
    const score = logMean((await runsOf(learn, arm, { first: 1000, count: tuning, rate })).map(cost))
    if (best === null || score < best.score) best = { rate, score }
  }
  return { ...arm, rate: best.rate, runs: await runsOf(learn, arm, { first, count: seeds, rate: best.rate }) }
}

/** The geometric mean of the ratios of costs, paired by seed, with its 95 % bootstrap interval over seeds. */
export function ratio(runs, control, cost) {
  const logs = runs.map((run, i) => Math.log(cost(run) / cost(control[i])))
  const of = (sample) => Math.exp(sample.reduce((sum, each) => sum + each, 0) / sample.length)
  const draw = rng('bootstrap')
  const means = Array.from({ length: 4000 }, () => of(logs.map(() => logs[draw.int(logs.length)]))).toSorted(
    (a, b) => a - b,
  )
  return `${of(logs).toFixed(2)} [${means[100].toFixed(2)}, ${means[3900].toFixed(2)}]`
}
