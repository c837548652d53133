import { type Html, html } from '../html.ts'
import { coordinate } from './scale.ts'
import { pathOf, type SparkPoint } from './spark.ts'

const WIDTH = 76
const HEIGHT = 30
const EDGE = 4

/**
 * A rate in [0, 1] over updates, small enough for a cell of a table. All trends of one table share their axes.
 * @param span the first and the last update of the table.
 */
export function trend(points: readonly SparkPoint[], [first, last]: readonly [number, number], label: string): Html {
  const x = (at: number) => EDGE + ((WIDTH - 2 * EDGE) * (at - first)) / Math.max(1, last - first)
  const y = (rate: number) => EDGE + (HEIGHT - 2 * EDGE) * (1 - rate)
  const end = points.findLast(({ value }) => value !== null)
  return html`<svg class="trend" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${label}">
    <line class="grid" x1="${EDGE}" x2="${WIDTH - EDGE}" y1="${coordinate(y(0))}" y2="${coordinate(y(0))}" />
    <path class="line" d="${pathOf(points, x, y)}" />
    ${end && typeof end.value === 'number' && html`<circle class="dot" cx="${coordinate(x(end.at))}" cy="${coordinate(y(end.value))}" r="2.5" />`}
  </svg>`
}
