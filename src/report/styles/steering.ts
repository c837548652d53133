/** What the run decided by itself, and its families of tasks. */
export const steering = `
.moments { max-width: 860px; margin: 18px 0 0; padding: 0; list-style: none; }
.moments > li { display: grid; grid-template-columns: 92px minmax(0, 1fr); gap: 0 18px; padding-bottom: 22px; }
.moments .when { padding-top: 3px; font-size: 14px; color: var(--muted); font-variant-numeric: tabular-nums; }
.moments > li > div > div { margin-top: 3px; color: var(--muted); font-size: 15px; }
.moments > .trouble h3 { color: var(--bad); }
.moments b { font-weight: 600; color: var(--ink); }
.moments .reasons li { margin-bottom: 6px; }
.looks .words { min-width: 22em; white-space: normal; overflow-wrap: anywhere; }
.families { max-width: 860px; margin-top: 20px; }
.families > .note { margin: 4px 0 14px; font-size: 14px; }
.families > table + .note { margin-top: 12px; }
.families table { table-layout: fixed; }
.families .figures th { overflow-wrap: anywhere; }
.families .figures .number { width: 68px; text-align: right; }
.families .figures .course { width: 98px; padding-right: 0; }
.families .figures tbody > tr > * { vertical-align: middle; }
.families .chip { margin: 0; color: var(--bad); background: var(--bad-wash); font-size: 12px; white-space: nowrap; }
.trend { margin-left: auto; }
.trend .line { stroke-width: 1.5; }
.trend .dot { fill: var(--blue); }
.trend .grid { stroke: var(--line); }
.dead .trend { --series: var(--bad); }
.dead .trend .dot { fill: var(--bad); }
@media (max-width: 640px) {
  .moments > li { grid-template-columns: minmax(0, 1fr); }
  .looks .words { min-width: 10em; }
  .looks th, .looks td { padding-right: 10px; }
  .looks thead th { white-space: normal; }
  .families .figures .number { width: 48px; padding-right: 8px; }
  .families .figures .course { width: 78px; }
  .families .figures th { padding-right: 8px; }
}
@media print { .moments > li { break-inside: avoid; } }
`
