import { type Html, html } from '../html.ts'

/** Series are told apart by shape as well as by colour. */
export const SERIES = 4

/** A series' mark, centred on (x, y). x is a percentage, y and r are pixels. */
export function mark(series: number, x: string, y: number, r: number): Html {
  const shape =
    series % SERIES === 0
      ? html`<circle r="${r}" />`
      : series % SERIES === 1
        ? html`<rect x="${-r}" y="${-r}" width="${2 * r}" height="${2 * r}" transform="rotate(45) scale(0.9)" />`
        : series % SERIES === 2
          ? html`<rect x="${-r}" y="${-r}" width="${2 * r}" height="${2 * r}" transform="scale(0.9)" />`
          : html`<path d="M0 ${-r * 1.2}L${r * 1.2} ${r}H${-r * 1.2}Z" />`
  return html`<svg x="${x}" y="${y}" overflow="visible" class="mark s${series % SERIES}">${shape}</svg>`
}

/** The same mark for a legend. */
export function key(series: number): Html {
  return html`<svg class="key" width="14" height="12" aria-hidden="true">${mark(series, '50%', 6, 4)}</svg>`
}
