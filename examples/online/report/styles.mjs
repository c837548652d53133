// The look of Ratchet's reports: colours by role for light and dark, quiet charts, no more.
export const styles = `
:root {
  color-scheme: light dark;
  --page: #fbfbf9; --surface: #ffffff; --sunken: #f2f3f0;
  --ink: #1a1e22; --muted: #59636d; --line: #dcdfdd; --faint: #eceeeb;
  --blue: #0b5cad; --orange: #b04a00; --green: #00704f;
  --good: #00704f; --good-wash: #e0f2ea; --bad: #b3261e; --bad-wash: #fbe7e4;
  --open: #8a5200; --open-wash: #fbefd9; --still: #4d5761; --still-wash: #e9ecee;
  --shade: 0 1px 2px rgb(20 30 40 / 6%);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #121517; --surface: #191d20; --sunken: #22272b;
    --ink: #e8ebed; --muted: #a3adb6; --line: #343b41; --faint: #262c30;
    --blue: #74b4f5; --orange: #f0a264; --green: #5cc9a0;
    --good: #5cc9a0; --good-wash: #15332a; --bad: #ff9c92; --bad-wash: #40201d;
    --open: #f0b866; --open-wash: #3a2c14; --still: #b6c0c8; --still-wash: #2a3137;
    --shade: none;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 var(--sans); overflow-wrap: anywhere; }
main { max-width: 1120px; margin: 0 auto; padding: 56px 32px 24px; }
section { margin-top: 64px; padding-top: 28px; border-top: 1px solid var(--line); }
h1 { max-width: 28em; margin: 14px 0 12px; font-size: clamp(24px, 3.2vw, 35px); line-height: 1.22; font-weight: 600; letter-spacing: -0.018em; text-wrap: balance; }
h1 strong { color: var(--blue); font-weight: 650; }
h2 { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 14px; margin: 0 0 8px; font-size: 22px; line-height: 1.3; font-weight: 620; letter-spacing: -0.01em; }
h3 { margin: 34px 0 4px; font-size: 17px; line-height: 1.4; font-weight: 600; }
h4 { margin: 0 0 2px; font-size: 15px; font-weight: 600; }
p, figure { margin: 0; }
small { display: block; font-size: 13px; line-height: 1.35; font-weight: 400; color: var(--muted); }
.muted, .note { color: var(--muted); }
.note { font-size: 13px; line-height: 1.45; }
.rule { max-width: 62em; margin-top: 22px; }
.lead { max-width: 50em; margin-bottom: 18px; color: var(--muted); }
.eyebrow, .meta { font-size: 14px; color: var(--muted); }
.range { white-space: nowrap; }
.verdict { display: inline-block; padding: 3px 12px 3px 10px; border-radius: 99px; font-size: 14px; line-height: 1.5; font-weight: 600; letter-spacing: 0; white-space: nowrap; }
header > .verdict { margin-top: 12px; border-radius: 14px; white-space: normal; }
.chip { display: inline-block; margin: 0 4px; padding: 1px 10px; border-radius: 99px; font-size: 13px; font-weight: 600; }
.good { --tone: var(--good); } .bad { --tone: var(--bad); } .open { --tone: var(--open); } .still { --tone: var(--still); }
.verdict, .chip { color: var(--tone); }
.verdict.good, .chip.good { background: var(--good-wash); }
.verdict.bad, .chip.bad { background: var(--bad-wash); }
.verdict.open, .chip.open { background: var(--open-wash); }
.verdict.still, .chip.still { background: var(--still-wash); }
code, pre { font-family: var(--mono); font-size: 13.5px; }
code { padding: 1px 5px; border-radius: 4px; background: var(--sunken); }
.scroll { overflow-x: auto; }
details { margin-top: 10px; }
details.fold { margin: 0; }
summary { width: fit-content; cursor: pointer; color: var(--blue); font-size: 14px; }
.fold > summary { color: inherit; font-size: inherit; }
.fold[open] > summary { margin-bottom: 4px; color: var(--muted); }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; border-radius: 3px; }
.steps { display: grid; grid-template-columns: repeat(auto-fit, minmax(188px, 1fr)); gap: 12px; margin: 30px 0 0; padding: 0; list-style: none; }
.steps li { border: 1px solid var(--line); border-radius: 12px; background: var(--surface); box-shadow: var(--shade); }
.steps a { display: flex; flex-direction: column; height: 100%; padding: 16px 16px 15px; color: inherit; text-decoration: none; }
.steps .name { flex: none; min-height: 2.9em; font-size: 14px; line-height: 1.4; font-weight: 550; }
.steps .big { margin: 6px 0 4px; font-size: 26px; line-height: 1.2; font-weight: 600; letter-spacing: -0.025em; font-variant-numeric: tabular-nums; white-space: nowrap; }
.steps .muted { flex: 1; margin-bottom: 12px; font-size: 13px; line-height: 1.4; }
.steps .verdict { align-self: flex-start; font-size: 13px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { font-weight: 500; text-align: left; }
.figures { font-size: 14px; }
.figures th, .figures td { padding: 5px 16px 5px 0; border-bottom: 1px solid var(--faint); text-align: left; vertical-align: top; overflow-wrap: normal; white-space: nowrap; }
.figures thead th { color: var(--muted); font-size: 13px; }
.figures .why { min-width: 16em; white-space: normal; overflow-wrap: anywhere; }
.facts { margin: 0; }
.facts > div { display: grid; grid-template-columns: 150px minmax(0, 1fr); gap: 16px; padding: 7px 0; border-bottom: 1px solid var(--faint); }
.facts dt { font-size: 13px; line-height: 1.75; color: var(--muted); }
.facts dd { margin: 0; font-size: 15px; }
svg { display: block; overflow: visible; }
svg text { font: 12px var(--sans); fill: var(--ink); font-variant-numeric: tabular-nums; }
svg text.muted, .axis text { fill: var(--muted); }
.grid { stroke: var(--faint); stroke-width: 1; }
.tick { stroke: var(--line); }
.s0 { --series: var(--blue); } .s1 { --series: var(--orange); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; margin: 0 0 22px; padding: 0; list-style: none; font-size: 14px; }
.legend .key { display: inline-block; vertical-align: -1px; margin-right: 3px; }
.pair { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); gap: 14px 40px; margin-bottom: 34px; }
.pair figcaption { grid-column: 1 / -1; }
.live { margin-bottom: 34px; }
.live figcaption { margin-bottom: 26px; }
.curve { display: flex; padding-right: 12px; }
.curve .axis.y { flex: none; width: 64px; }
.curve .plot { flex: 1; min-width: 0; }
.mark { fill: var(--series); stroke: var(--page); stroke-width: 1.5; }
.mark.hollow { fill: var(--page); stroke: var(--series); }
.whisker { stroke: var(--series); stroke-width: 2; }
.control { stroke: var(--series); stroke-width: 1.25; stroke-dasharray: 4 4; opacity: 0.75; }
.line { fill: none; stroke: var(--series); stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.change { stroke: var(--muted); stroke-dasharray: 2 3; }
svg text.change-label { fill: var(--muted); }
.promotion { stroke: var(--good); opacity: 0.55; }
svg text.promotion-label { fill: var(--good); }
.canary { fill: var(--still); }
.canary.promoted, .swatch.promoted { fill: var(--good); background: var(--good); }
.canary.rolled-back, .swatch.rolled-back { fill: var(--bad); background: var(--bad); }
.swatch.ended { background: var(--still); }
.canary.running { fill: none; stroke: var(--muted); stroke-dasharray: 3 2; }
.run { fill: var(--blue); }
.alert { fill: var(--muted); }
.alert.drift { fill: var(--orange); }
.swatch { display: inline-block; width: 18px; height: 10px; margin-right: 5px; border-radius: 3px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.columns, .tiers { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(310px, 100%), 1fr)); gap: 32px 44px; }
.columns { gap: 22px 56px; }
.columns > *, .tier { min-width: 0; }
.tier figcaption { padding-bottom: 10px; line-height: 1.5; }
.hack + .hack { margin-top: 10px; }
.hack h3 { margin-bottom: 12px; }
.trial { padding: 10px 0 12px; border-top: 1px solid var(--faint); }
.trial p { margin-bottom: 7px; font-size: 15px; }
.tier > .trial { padding-top: 0; border: 0; }
.trial .intervals { margin: 9px 0 4px; }
.exposure .all { fill: var(--faint); }
.exposure .part { fill: var(--tone); }
.intervals { table-layout: fixed; }
.intervals th, .intervals td { padding: 0; vertical-align: middle; }
.intervals .name { width: 32%; }
.intervals tbody th { padding-right: 10px; font-size: 14px; line-height: 1.25; }
.intervals .group { padding: 12px 0 4px; font-size: 13px; color: var(--muted); }
.intervals .plot { padding-right: 10px; }
.intervals .number { width: 76px; text-align: right; line-height: 1.25; }
.intervals .number b { font-weight: 600; }
.intervals.h24 .number { width: 104px; white-space: nowrap; }
.intervals.h24 .number small { display: inline; margin-left: 6px; }
.intervals.h24 tbody th { font-size: 14px; }
.interval .whisker { stroke: var(--ink); stroke-width: 2; }
.interval .dot { fill: var(--ink); }
.interval.plain .whisker { stroke: var(--muted); }
.interval.plain .dot { fill: var(--page); stroke: var(--muted); stroke-width: 1.5; }
.interval.learned .whisker { stroke: var(--blue); stroke-width: 3; }
.interval.learned .dot { fill: var(--blue); }
.interval.good .whisker, .interval.bad .whisker, .interval.open .whisker, .interval.still .whisker { stroke: var(--tone); stroke-width: 3; }
.interval.good .dot, .interval.bad .dot, .interval.open .dot, .interval.still .dot { fill: var(--tone); }
footer { max-width: 1120px; margin: 0 auto; padding: 28px 32px 48px; font-size: 13px; color: var(--muted); }
@media (max-width: 900px) { .pair { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 640px) {
  main { padding: 32px 18px 12px; }
  section { margin-top: 44px; padding-top: 24px; }
  .steps { grid-template-columns: 1fr; gap: 10px; }
  .steps .name { min-height: 0; }
  .facts > div { grid-template-columns: 1fr; gap: 0; }
  .intervals tbody th { padding-right: 8px; }
  .intervals .number { width: 64px; }
  .curve { margin-left: -8px; }
  footer { padding: 24px 18px 40px; }
}
@media print {
  body { font-size: 11pt; background: #fff; }
  main { max-width: none; padding: 0; }
  section { margin-top: 30px; }
  h2, h3, h4 { break-after: avoid; }
  figcaption { break-after: avoid; }
  .steps li, .trial, .curve, .tier, tr { break-inside: avoid; }
  details:not([open]) { display: none; }
  details.fold { display: block; }
}
`
