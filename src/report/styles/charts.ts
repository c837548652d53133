/** Charts: one stroke width, quiet grid, text that never stretches. */
export const charts = `
svg { display: block; overflow: visible; }
svg text { font: 12px var(--sans); fill: var(--ink); font-variant-numeric: tabular-nums; }
svg text.muted, .axis text, .axis.y text { fill: var(--muted); }
.grid { stroke: var(--faint); stroke-width: 1; }
.tiers { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 40px 56px; }
.tier { min-width: 0; }
.tier figcaption { padding-bottom: 10px; line-height: 1.4; }
.tier figcaption .muted { display: block; font-size: 14px; }
.tier > .note { margin-top: 6px; }
.intervals { table-layout: fixed; }
.intervals th, .intervals td { padding: 0; vertical-align: middle; }
.intervals thead th { padding-bottom: 6px; font-size: 13px; color: var(--muted); }
.intervals tbody th { width: 30%; padding-right: 14px; font-size: 15px; line-height: 1.3; height: 42px; }
.intervals thead th:first-child { width: 30%; }
.intervals .plot { width: auto; padding-right: 10px; }
.intervals .number { width: 84px; text-align: right; line-height: 1.25; }
.intervals td.number b { font-weight: 600; }
.baselines th, .baselines td.number b { font-weight: 400; color: var(--muted); }
.baselines tr:last-child > * { border-bottom: 1px solid var(--line); }
.intervals tr.learned th, .intervals tr.learned b { font-weight: 650; }
.interval .whisker { stroke: var(--ink); stroke-width: 2; }
.interval .dot { fill: var(--ink); }
.interval.baseline .whisker { stroke: var(--muted); stroke-width: 1.5; }
.interval.baseline .dot { fill: var(--page); stroke: var(--muted); stroke-width: 1.5; }
.interval.learned .whisker { stroke: var(--blue); stroke-width: 3; }
.interval.learned .dot { fill: var(--blue); }
.s0 { --series: var(--blue); } .s1 { --series: var(--orange); } .s2 { --series: var(--violet); } .s3 { --series: var(--green); }
.line { fill: none; stroke: var(--series, var(--blue)); stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.line.rollouts, line.rollouts { stroke: var(--muted); stroke-width: 1.25; stroke-dasharray: 3 3; }
.band { fill: var(--series); opacity: 0.14; }
.mark { fill: var(--series); stroke: var(--page); stroke-width: 1.5; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 0 0 24px; padding: 0; list-style: none; font-size: 14px; }
.legend .key { display: inline-block; vertical-align: -1px; margin-right: 3px; }
.curve { display: flex; padding-right: 12px; }
.curve .axis.y { flex: none; width: 64px; }
.curve .plot { flex: 1; min-width: 0; }
.tick { stroke: var(--line); }
.kept { stroke: var(--muted); stroke-width: 1; stroke-dasharray: 2 3; }
.curve text.kept-label { fill: var(--muted); }
.hit { fill: none; pointer-events: all; }
.cross { stroke: var(--muted); opacity: 0; pointer-events: none; }
.tip { opacity: 0; pointer-events: none; }
.tip rect { fill: var(--surface); stroke: var(--line); }
.tip text:first-of-type { font-weight: 600; }
.column:hover .cross, .column:hover .tip { opacity: 1; }
.sparks { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(230px, 100%), 1fr)); gap: 34px 40px; }
.spark figcaption { display: flex; justify-content: space-between; align-items: baseline; gap: 12px; margin-bottom: 8px; font-size: 15px; }
.spark b { font-size: 17px; font-weight: 600; font-variant-numeric: tabular-nums; }
.spark .line { stroke-width: 1.75; }
.spark .dot { fill: var(--blue); }
.spark .grid { stroke: var(--line); }
.spark .note { margin-top: 8px; }
.difference { margin: 10px 0 0; max-width: 640px; }
.difference .base { stroke: var(--faint); stroke-width: 1; }
.difference .zero { stroke: var(--muted); }
.difference .margin { stroke: var(--orange); stroke-dasharray: 4 3; stroke-width: 1.5; }
.difference .whisker { stroke: var(--blue); stroke-width: 3; }
.difference .dot { fill: var(--blue); }
.shares { max-width: 640px; margin: 8px 0 6px; }
.shares .better, .swatch.better { fill: var(--blue); background: var(--blue); }
.shares .equal, .swatch.equal { fill: var(--line); background: var(--line); }
.shares .worse, .swatch.worse { fill: var(--orange); background: var(--orange); }
.swatch { display: inline-block; width: 10px; height: 10px; margin: 0 5px 0 14px; border-radius: 2px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.swatch:first-child { margin-left: 0; }
@media (max-width: 640px) {
  .intervals tbody th, .intervals thead th:first-child { width: 34%; padding-right: 8px; font-size: 14px; }
  .intervals .number { width: 66px; }
  .curve { margin-left: -6px; }
}
`
