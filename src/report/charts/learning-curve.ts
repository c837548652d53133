import type { SuccessRate } from '../../learn/index.ts'
import { clock, percent, short } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { UpdatePoint, ValidationCurve } from '../run-report.ts'
import { mark } from './marks.ts'
import { across, coordinate, wholeTicks } from './scale.ts'
import { pathOf } from './spark.ts'

const PLOT = 280
const TICK_ROWS = 58
const WIDTH = 1000
const y = (rate: number) => PLOT * (1 - rate)

/** What a learning curve draws. */
export interface CurveData {
  readonly updates: readonly UpdatePoint[]
  readonly validation: readonly ValidationCurve[]
  /** The update whose weights were kept. */
  readonly kept: number | null
  /** Seconds and tokens that priming took, before update 1. */
  readonly before: { readonly seconds: number; readonly tokens: number }
}

/**
 * Success over updates: rollouts as a thin line, validation with its interval as a band for each tier. Below each
 * update: the time since the run began to learn and the tokens sampled for learning. Values appear under the pointer.
 */
export function learningCurve(data: CurveData): Html {
  const { updates, validation, kept } = data
  const last = Math.max(1, updates.at(-1)?.update ?? 0, ...validation.map(({ points }) => points.at(-1)?.update ?? 0))
  const x = (update: number) => update / last
  const spent = spending(data)
  return html`<div class="curve">
    <svg class="axis y" width="64" height="${PLOT + TICK_ROWS}" aria-hidden="true">
      ${[0, 0.25, 0.5, 0.75, 1].map((rate) => html`<text x="52" y="${y(rate) + 4}" text-anchor="end">${100 * rate}%</text>`)}
      ${['update', 'time', 'tokens'].map((name, i) => html`<text x="43" y="${PLOT + 22 + 16 * i}" text-anchor="end">${name}</text>`)}
    </svg>
    <svg class="plot" width="100%" height="${PLOT + TICK_ROWS}" role="img"
      aria-label="Success over updates; the figures are in the table below">
      ${[0, 0.25, 0.5, 0.75, 1].map((rate) => html`<line class="grid" x1="0" x2="100%" y1="${y(rate)}" y2="${y(rate)}" />`)}
      ${
        kept !== null &&
        html`<line class="kept" x1="${across(x(kept))}" x2="${across(x(kept))}" y1="0" y2="${PLOT}" />
      <text class="kept-label" x="${across(x(kept))}" y="-6" text-anchor="${x(kept) > 0.95 ? 'end' : 'middle'}">kept</text>`
      }
      <svg width="100%" height="${PLOT}" viewBox="0 0 ${WIDTH} ${PLOT}" preserveAspectRatio="none">
        ${validation.map(({ points }, i) => html`<path class="band s${i % 4}" d="${band(points, x)}" />`)}
        <path class="line rollouts" d="${pathOf(
          updates.map(({ update, rollouts }) => ({ at: update, value: rollouts.success })),
          (at) => WIDTH * x(at),
          y,
        )}" />
        ${validation.map(
          ({ points }, i) =>
            html`<path class="line s${i % 4}" d="${pathOf(
              points.map(({ update, rate }) => ({ at: update, value: rate.success })),
              (at) => WIDTH * x(at),
              y,
            )}" />`,
        )}
      </svg>
      ${validation.flatMap(({ points }, i) =>
        points.map(
          ({ update, rate }) =>
            rate.success !== null && mark(i, across(x(update)), Number(coordinate(y(rate.success))), 4.5),
        ),
      )}
      ${wholeTicks(last, 6).map((update) => tick(update, x, spent.get(update)))}
      ${hovers(data, last, x, spent)}
    </svg>
  </div>`
}

/** The interval of a validation curve as an area. */
function band(points: ValidationCurve['points'], x: (update: number) => number): string {
  const at = (update: number, rate: number) => `${coordinate(WIDTH * x(update))} ${coordinate(y(rate))}`
  const known = points.filter(({ rate }) => rate.success !== null)
  if (known.length < 2) return ''
  const upper = known.map(({ update, rate }) => at(update, rate.ci[1]))
  const lower = known.map(({ update, rate }) => at(update, rate.ci[0])).toReversed()
  return `M${[...upper, ...lower].join('L')}Z`
}

interface Spent {
  readonly seconds: number
  readonly tokens: number
}

/** Time and tokens up to each update, update 0 being the end of priming. */
function spending({ updates, before }: CurveData): ReadonlyMap<number, Spent> {
  const spent = new Map<number, Spent>([[0, before]])
  let { tokens } = before
  for (const { update, seconds, tokensSampled } of updates) {
    tokens += tokensSampled
    spent.set(update, { seconds, tokens })
  }
  return spent
}

function tick(update: number, x: (update: number) => number, spent: Spent | undefined): Html {
  const rows = [String(update), spent ? clock(spent.seconds) : '', spent ? short(spent.tokens) : '']
  return html`<line class="tick" x1="${across(x(update))}" x2="${across(x(update))}" y1="${PLOT}" y2="${PLOT + 5}" />
  ${rows.map((row, i) => html`<text class="${i === 0 ? '' : 'muted'}" x="${across(x(update))}" y="${PLOT + 22 + 16 * i}" text-anchor="middle">${row}</text>`)}`
}

/**
 * What lets the box of figures fit beside the pointer on the narrowest page: the axis gives it more room on the left, so
 * it changes sides before the middle.
 */
const [FLIP, GAP, LONGEST_NAME] = [0.42, 6, 11]

/** The most columns that answer the pointer: more would be thinner than it. */
const COLUMNS = 160

/** A column for each update; pointed at, it shows a line and the figures. Needs no script. */
function hovers(
  { updates, validation }: CurveData,
  last: number,
  x: (update: number) => number,
  spent: ReadonlyMap<number, Spent>,
): readonly Html[] {
  const stride = Math.ceil((last + 1) / COLUMNS)
  const byUpdate = new Map(updates.map((point) => [point.update, point]))
  const columns: Html[] = []
  for (let update = 0; update <= last; update += stride) {
    const rollouts = byUpdate.get(update)?.rollouts
    const looks = validation.flatMap(({ tier, points }) => {
      const rate = points.find((point) => point.update === update)?.rate
      return rate && rate.success !== null
        ? [
            `${tier.length > LONGEST_NAME ? `${tier.slice(0, LONGEST_NAME - 1)}…` : tier} ${percent(rate.success)} ${bounds(rate)}`,
          ]
        : []
    })
    const cost = spent.get(update)
    const lines = [
      ...looks,
      ...(rollouts && rollouts.success !== null ? [`rollouts ${percent(rollouts.success)} ${bounds(rollouts)}`] : []),
      ...(cost ? [`${clock(cost.seconds)} · ${short(cost.tokens)} tokens`] : []),
    ]
    if (lines.length > 0) columns.push(column(update, lines, x(update), stride / last))
  }
  return columns
}

const bounds = ({ ci: [low, high] }: SuccessRate) => `(${(100 * low).toFixed(0)}–${(100 * high).toFixed(0)})`

function column(update: number, lines: readonly string[], at: number, width: number): Html {
  const rows = [update === 0 ? 'After priming' : `Update ${update}`, ...lines]
  const boxWidth = 16 + 6.6 * rows.reduce((longest, row) => Math.max(longest, row.length), 0)
  const left = at > FLIP ? -boxWidth - GAP : GAP
  return html`<g class="column"><rect class="hit" x="${across(at - width / 2)}" y="0" width="${across(width)}" height="${PLOT}" />
    <line class="cross" x1="${across(at)}" x2="${across(at)}" y1="0" y2="${PLOT}" />
    <svg class="tip" x="${across(at)}" y="8" overflow="visible"><rect x="${left}" width="${boxWidth}" height="${14 + 17 * rows.length}" rx="6" />
      ${rows.map((row, i) => html`<text x="${left + 9}" y="${20 + 17 * i}">${row}</text>`)}</svg></g>`
}
