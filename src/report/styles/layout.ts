/** The page, its type, its tables. */
export const layout = `
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 var(--sans); overflow-wrap: anywhere; }
main { max-width: 1120px; margin: 0 auto; padding: 56px 32px 24px; }
header { padding-bottom: 8px; }
section[id] { margin-top: 64px; padding-top: 28px; border-top: 1px solid var(--line); }
h1 { max-width: 24em; margin: 14px 0 12px; font-size: clamp(25px, 3.4vw, 38px); line-height: 1.2; font-weight: 600; letter-spacing: -0.018em; text-wrap: balance; }
h1 strong { color: var(--blue); font-weight: 650; }
h2 { margin: 0 0 6px; font-size: 22px; line-height: 1.3; font-weight: 620; letter-spacing: -0.01em; }
h3 { margin: 0; font-size: 17px; line-height: 1.4; font-weight: 600; }
h4 { margin: 0; font-size: 15px; font-weight: 600; }
p { margin: 0; }
small { display: block; font-size: 13px; line-height: 1.35; font-weight: 400; color: var(--muted); }
.muted, .note { color: var(--muted); }
.note { font-size: 13px; line-height: 1.45; }
.lead { max-width: 46em; margin-bottom: 28px; color: var(--muted); }
.eyebrow { font-size: 14px; color: var(--muted); }
.meta { font-size: 14px; color: var(--muted); }
.next { max-width: 42em; margin-bottom: 6px; font-size: 17px; }
.verdict { display: inline-block; margin-top: 14px; padding: 4px 13px 4px 11px; border-radius: 99px; font-size: 15px; font-weight: 600; }
.good { color: var(--good); background: var(--good-wash); }
.bad { color: var(--bad); background: var(--bad-wash); }
.open { color: var(--open); background: var(--open-wash); }
.still { color: var(--still); background: var(--still-wash); }
.failure { max-width: 48em; margin: 4px 0 14px; padding: 11px 15px; border-left: 3px solid var(--bad); border-radius: 0 8px 8px 0; background: var(--bad-wash); white-space: pre-wrap; }
code, pre, .text, .call { font-family: var(--mono); font-size: 13.5px; }
code { padding: 1px 5px; border-radius: 4px; background: var(--sunken); }
pre { margin: 0; padding: 11px 14px; border-radius: 8px; background: var(--sunken); white-space: pre-wrap; }
pre code { padding: 0; background: none; }
figure { margin: 0; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.scroll { overflow-x: auto; }
details { margin-top: 18px; }
summary { width: fit-content; cursor: pointer; color: var(--blue); font-size: 15px; }
details[open] > summary { margin-bottom: 12px; }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; border-radius: 3px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { font-weight: 500; text-align: left; }
.figures { font-size: 14px; }
.figures th, .figures td { padding: 6px 18px 6px 0; border-bottom: 1px solid var(--faint); text-align: left; vertical-align: top; overflow-wrap: normal; }
.figures thead th { color: var(--muted); font-size: 13px; white-space: nowrap; }
.figures td { white-space: nowrap; }
.pairs th { width: 34%; min-width: 9em; color: var(--muted); }
.pairs td { white-space: normal; overflow-wrap: anywhere; }
.steps { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 32px 0 0; padding: 0; list-style: none; }
.steps li { display: flex; flex-direction: column; padding: 16px 18px 15px; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); box-shadow: var(--shade); }
.steps .name { font-size: 14px; color: var(--muted); }
.steps .big { font-size: 40px; line-height: 1.15; font-weight: 600; letter-spacing: -0.025em; font-variant-numeric: tabular-nums; }
.steps .muted { font-size: 13px; }
.range { white-space: nowrap; }
.steps .learned { border-color: var(--blue); }
.steps .learned .big { color: var(--blue); }
.tiles { display: flex; flex-wrap: wrap; gap: 14px 48px; margin: 22px 0 0; }
.tiles dt, .facts dt, .waiting dt { font-size: 13px; color: var(--muted); }
.tiles dd { margin: 0; font-size: 17px; font-weight: 550; font-variant-numeric: tabular-nums; }
.commands { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)); gap: 16px; margin: 10px 0 26px; }
.commands p { margin-bottom: 5px; font-size: 14px; color: var(--muted); }
.facts, .waiting { margin: 0; }
.facts > div, .waiting > div { display: grid; grid-template-columns: 150px minmax(0, 1fr); gap: 16px; padding: 7px 0; border-bottom: 1px solid var(--faint); }
.facts dt, .waiting dt { line-height: 1.75; }
.facts dd, .waiting dd { margin: 0; font-size: 15px; }
.waiting { margin-top: 12px; }
.waiting > div { grid-template-columns: 260px minmax(0, 1fr); }
.waiting dd { color: var(--muted); }
.facts code { overflow-wrap: anywhere; }
.version { display: block; }
footer { max-width: 1120px; margin: 0 auto; padding: 28px 32px 48px; font-size: 13px; color: var(--muted); }
@media (max-width: 640px) {
  main { padding: 32px 18px 12px; }
  section[id] { margin-top: 44px; padding-top: 24px; }
  .steps { grid-template-columns: 1fr 1fr; gap: 10px; }
  .steps li { padding: 13px 14px 12px; }
  .steps .big { font-size: 33px; }
  .facts > div, .waiting > div { grid-template-columns: 1fr; gap: 0; }
  .tiles { gap: 12px 32px; }
  footer { padding: 24px 18px 40px; }
}
@media print {
  body { font-size: 11pt; background: #fff; }
  main { max-width: none; padding: 0; }
  section[id] { margin-top: 30px; }
  h2, h3, h4 { break-after: avoid; }
  figure, .story, .steps li, .arithmetic > li, .curve, tr { break-inside: avoid; }
  .column { display: none; }
}
`
