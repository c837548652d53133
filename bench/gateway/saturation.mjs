// What goes through at most: callers that wait for their answers, more and more of them, target after target.
import { median, spread, table } from './figures.mjs'
import { refused } from './refused.mjs'

/**
 * @param targets by name: the upstream itself, the gateway, and peers; null ones are left out.
 * @param options `rounds`, `concurrencies`, and what each run is told: `work`, `warmUp`, `seconds`.
 * @returns by target: `perSecond`, the median of its best concurrency, and `perCore`, one figure a round.
 */
export async function saturation({ load, targets, rounds, concurrencies, ...plan }) {
  const names = Object.keys(targets)
  /** By concurrency and target: one run a round. */
  const runs = new Map(concurrencies.map((concurrency) => [concurrency, Object.fromEntries(names.map((n) => [n, []]))]))
  for (let round = 0; round < rounds; round++) {
    for (const concurrency of concurrencies) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const target = targets[name]
        const watch = { target: target.pids() }
        const run = await load.run({ kind: 'closed', target: addressOf(target), concurrency, watch, ...plan })
        runs.get(concurrency)[name].push({
          perSecond: run.perSecond,
          perCore: run.ended / run.cpu.target.all,
          mainThread: run.cpu.target.mainThread / run.cpu.target.all,
          loadPerCore: run.ended / run.cpu.load.all,
          refused: refused(run),
        })
      }
    }
  }
  print(runs)
  const best = (name) => {
    const all = concurrencies.map((concurrency) => runs.get(concurrency)[name])
    return all.reduce((a, b) => (perSecondOf(b) > perSecondOf(a) ? b : a))
  }
  return Object.fromEntries(
    names.map((name) => [
      name,
      { perSecond: perSecondOf(best(name)), perCore: best(name).map(({ perCore }) => perCore) },
    ]),
  )
}

const perSecondOf = (runs) => median(runs.map(({ perSecond }) => perSecond))

/** What a load process needs to know of a target. */
export const addressOf = ({ host, port, tokens = ['sk-any'] }) => ({ host, port, tokens })

function print(runs) {
  const rows = []
  for (const [concurrency, targets] of runs) {
    for (const [name, all] of Object.entries(targets)) {
      const of = (field) => all.map((run) => run[field])
      rows.push([
        concurrency,
        name,
        spread(of('perSecond'), 0),
        spread(of('perCore'), 0),
        `${(1000 / median(of('perCore'))).toFixed(3)} ms`,
        `${(median(of('mainThread')) * 100).toFixed(0)} %`,
        spread(of('loadPerCore'), 0),
        all.map((run) => run.refused).find((text) => text !== '') ?? '',
      ])
    }
  }
  table(
    [
      'callers',
      'target',
      'requests/s',
      'requests a core-second of the target',
      'CPU a request',
      'of it in the main thread',
      'requests a core-second of the load generator',
      'not answered',
    ],
    rows,
  )
}
