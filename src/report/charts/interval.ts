import { signed } from '../format.ts'
import { type Html, html } from '../html.ts'
import { across } from './scale.ts'

const HEIGHT = 42
const QUARTERS = [0, 0.25, 0.5, 0.75, 1]

/** A rate and its interval on a scale from 0 to 1; rows stack to one chart. */
export function intervalRow(
  rate: { readonly success: number | null; readonly ci: readonly [number, number] },
  kind: 'baseline' | 'arm' | 'learned',
): Html {
  const y = HEIGHT / 2
  const { success, ci } = rate
  return html`<svg class="interval ${kind}" width="100%" height="${HEIGHT}" aria-hidden="true">
    ${QUARTERS.map((at) => html`<line class="grid" x1="${across(at)}" x2="${across(at)}" y1="0" y2="${HEIGHT}" />`)}
    ${
      success !== null &&
      html`<line class="whisker" x1="${across(ci[0])}" x2="${across(ci[1])}" y1="${y}" y2="${y}" />
    ${
      kind === 'baseline'
        ? html`<svg x="${across(success)}" y="${y}" overflow="visible"><rect class="dot" x="-4" y="-4" width="8" height="8" transform="rotate(45)" /></svg>`
        : html`<circle class="dot" cx="${across(success)}" cy="${y}" r="${kind === 'learned' ? 6.5 : 5}" />`
    }`
    }
  </svg>`
}

/** The scale under the rows. */
export function intervalAxis(): Html {
  return html`<svg class="axis" width="100%" height="20" aria-hidden="true">
    ${QUARTERS.map((at) => html`<text x="${across(at)}" y="14" text-anchor="middle">${100 * at}%</text>`)}
  </svg>`
}

/** A mean difference with its interval against zero and a margin, on a scale that holds them all. */
export function differenceLine(
  difference: number,
  [low, high]: readonly [number, number],
  margin: number | null,
): Html {
  const reach = Math.max(Math.abs(low), Math.abs(high), Math.abs(margin ?? 0), 1e-9) * 1.08
  const from = Math.min(low, margin ?? 0, 0) < 0 ? -reach : -0.06 * reach
  const place = (value: number) => across((value - from) / (reach - from))
  const tag = (value: number, label: string) => {
    const share = (value - from) / (reach - from)
    const anchor = share > 0.9 ? 'end' : share < 0.1 ? 'start' : 'middle'
    return html`<text class="muted" x="${place(value)}" y="64" text-anchor="${anchor}">${label}</text>`
  }
  return html`<svg class="difference" width="100%" height="70" role="img"
    aria-label="The mean paired difference with its interval, against zero and the margin">
    <line class="base" x1="0" x2="100%" y1="28" y2="28" />
    <line class="zero" x1="${place(0)}" x2="${place(0)}" y1="8" y2="48" />
    ${margin !== null && html`<line class="margin" x1="${place(margin)}" x2="${place(margin)}" y1="8" y2="48" />`}
    <line class="whisker" x1="${place(low)}" x2="${place(high)}" y1="28" y2="28" />
    <circle class="dot" cx="${place(difference)}" cy="28" r="6.5" />
    ${tag(0, '0')}${tag(difference, signed(difference))}
  </svg>`
}
