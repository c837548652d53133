// What a target adds to the latency of its upstream, at rates that do not depend on how it does.
import { median, quantiles, spread, table } from './figures.mjs'
import { refused } from './refused.mjs'
import { addressOf } from './saturation.mjs'

/**
 * Requests come at a constant rate, each counted from the moment at which it was due. From each the upstream's own time is
 * taken off, which the upstream measured itself: its timers are a millisecond coarse. What is left of a target's latency
 * over that of the upstream called directly, at the same rate and a moment apart, was added by it: differences of quantiles.
 * @param rates by label, requests a second.
 * @param targets by name; `direct` is the upstream itself.
 * @returns for every rate and target but `direct` its figures, one a round.
 */
export async function latency({ load, upstream, targets, rates, rounds, ...plan }) {
  const names = Object.keys(targets)
  const figures = new Map(Object.keys(rates).map((label) => [label, Object.fromEntries(names.map((n) => [n, []]))]))
  for (let round = 0; round < rounds; round++) {
    for (const [label, rate] of Object.entries(rates)) {
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        const target = targets[name]
        const watch = { target: target.pids() }
        const run = await load.run({ kind: 'open', target: addressOf(target), rate, watch, ...plan })
        figures.get(label)[name].push(await measured(run, upstream, plan))
      }
    }
  }
  return figures
}

async function measured(run, upstream, { seconds }) {
  const { taken, begun, ended } = await upstream.times(run.number)
  const { number, due, sent, first, end } = run
  const answered = Array.from(number.keys()).filter((i) => end[i] > 0)
  const of = (latencyOf) => quantiles(answered.map(latencyOf))
  return {
    first: of((i) => first[i] - due[i] - (begun[i] - taken[i])),
    end: of((i) => end[i] - due[i] - (ended[i] - taken[i])),
    /** Until the upstream had the request, and from the end of its answer. */
    before: of((i) => taken[i] - due[i]),
    after: of((i) => end[i] - ended[i]),
    late: of((i) => sent[i] - due[i]),
    perSecond: run.ended / seconds,
    perCore: run.ended / run.cpu.target.all,
    refused: refused(run),
  }
}

/** Differences of quantiles to `direct`, round by round. */
const added = (sides, name, moment, quantile) =>
  sides[name].map((side, round) => side[moment][quantile] - sides.direct[round][moment][quantile])

/** Medians of what was added before the upstream had the request, and after it had ended its answer. */
function between(sides, name) {
  const on = (way) => ['p50', 'p99'].map((quantile) => median(added(sides, name, way, quantile)).toFixed(2)).join(' / ')
  return `${on('before')}, ${on('after')}`
}

/** A p99 of the upstream itself above this, in milliseconds, is somebody else's doing. */
const quiet = 2

/** The issue's: at most 1 ms beyond the flush. */
function verdict(p99, direct, flush) {
  const limit = `≤ 1 + ${flush.toFixed(2)}`
  const without = median(direct.map(({ end }) => end.p99))
  if (without > quiet) return `not judged: the machine is busy (${limit})`
  return `${median(p99) <= 1 + flush ? 'met' : 'not met'} (${limit})`
}

/**
 * @param rates as they were asked for.
 * @param moments `end`, and for streams `first`.
 * @param flush milliseconds that the flush alone took, p99 for p99; none where nothing is to be judged.
 */
export function printLatency(figures, { rates, moments, flush }) {
  const rows = []
  for (const [label, sides] of figures) {
    for (const name of Object.keys(sides)) {
      if (name === 'direct') continue
      for (const moment of moments) {
        const of = (side, quantile) => spread(sides[side].map((one) => one[moment][quantile]))
        const p99 = added(sides, name, moment, 'p99')
        rows.push([
          `${label}: ${Math.round(rates[label])}/s`,
          name,
          moment === 'end' ? 'end' : 'first chunk',
          spread(added(sides, name, moment, 'p50')),
          `**${spread(p99)}**`,
          moment === 'end' ? between(sides, name) : '',
          `${of('direct', 'p50')} / ${of('direct', 'p99')}`,
          `${of(name, 'p50')} / ${of(name, 'p99')}`,
          name === 'gateway' && moment === 'end' && flush.length > 0 ? verdict(p99, sides.direct, median(flush)) : '',
          spread(
            sides[name].map(({ perCore }) => perCore),
            0,
          ),
          `${median(sides[name].map(({ late }) => late.p50)).toFixed(2)} / ${median(sides[name].map(({ late }) => late.p99)).toFixed(2)}`,
          [...sides[name], ...sides.direct].map((one) => one.refused).find((text) => text !== '') ?? '',
        ])
      }
    }
  }
  table(
    [
      'rate',
      'target',
      'until',
      'added p50, ms',
      'added p99, ms',
      'of it on the way there, on the way back: p50 / p99',
      'upstream directly, p50 / p99',
      'through the target, p50 / p99',
      'target of the issue',
      'requests a core-second',
      'sent late by, p50 / p99',
      'not answered',
    ],
    rows,
  )
}
