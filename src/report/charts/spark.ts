import { figure } from '../format.ts'
import { type Html, html } from '../html.ts'
import { across, coordinate, extent } from './scale.ts'

/** One value of a small chart; `null` leaves a gap. */
export interface SparkPoint {
  readonly at: number
  readonly value: number | null
}

const HEIGHT = 72

/** A small line chart of one number over steps, with its range and its last value. */
export function spark(
  title: string,
  points: readonly SparkPoint[],
  { unit, note }: { unit: string; note: string },
): Html {
  const known = points.flatMap(({ at, value }) => (value === null ? [] : [{ at, value }]))
  const range = extent(known.map(({ value }) => value))
  const told =
    range && (range[0] === range[1] ? `${figure(range[0])} throughout` : `${figure(range[0])} to ${figure(range[1])}`)
  const last = known.at(-1)
  const missing = points.length - known.length
  return html`<figure class="spark">
    <figcaption><span>${title}</span> <b>${last ? figure(last.value) : 'no figure'}</b></figcaption>
    ${range && line(points, known, range, title)}
    <p class="note">${told && `${told}, over ${known.length} ${unit}. `}${missing > 0 && html`<strong>${missing} not finite.</strong> `}${note}</p>
  </figure>`
}

function line(
  points: readonly SparkPoint[],
  known: readonly { at: number; value: number }[],
  [low, high]: readonly [number, number],
  title: string,
): Html {
  const first = points[0]?.at ?? 0
  const span = Math.max(1, (points.at(-1)?.at ?? 1) - first)
  const floor = Math.min(low, 0) < 0 ? low : 0
  const x = (at: number) => (at - first) / span
  const y = (value: number) => 4 + (HEIGHT - 8) * (1 - (value - floor) / Math.max(high - floor, 1e-12))
  const path = pathOf(points, (at) => 1000 * x(at), y)
  const end = known.at(-1)
  return html`<svg class="plot" width="100%" height="${HEIGHT}" role="img" aria-label="${title}">
    <line class="grid" x1="0" x2="100%" y1="${coordinate(y(0))}" y2="${coordinate(y(0))}" />
    <svg width="100%" height="${HEIGHT}" viewBox="0 0 1000 ${HEIGHT}" preserveAspectRatio="none"><path class="line" d="${path}" /></svg>
    ${end && html`<circle class="dot" cx="${across(x(end.at))}" cy="${coordinate(y(end.value))}" r="3.5" />`}
  </svg>`
}

/** A line through the points, broken where a value is missing. */
export function pathOf(points: readonly SparkPoint[], x: (at: number) => number, y: (value: number) => number): string {
  let pen = 'M'
  let path = ''
  for (const { at, value } of points) {
    if (value === null) {
      pen = 'M'
      continue
    }
    path += `${pen}${coordinate(x(at))} ${coordinate(y(value))}`
    pen = 'L'
  }
  return path
}
