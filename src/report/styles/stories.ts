/** The gate's steps and the transcripts. */
export const stories = `
.arithmetic { margin: 0; padding: 0; list-style: none; counter-reset: step; max-width: 860px; }
.arithmetic > li { position: relative; padding: 0 0 26px 50px; counter-increment: step; }
.arithmetic > li::before { content: counter(step); position: absolute; left: 0; top: -2px; width: 29px; height: 29px; border-radius: 50%; background: var(--sunken); color: var(--muted); font-size: 14px; line-height: 29px; text-align: center; font-variant-numeric: tabular-nums; }
.arithmetic > li:not(:last-child)::after { content: ""; position: absolute; left: 14px; top: 33px; bottom: 8px; border-left: 1px solid var(--line); }
.arithmetic > li:last-child { padding-bottom: 4px; }
.arithmetic > li > div { margin-top: 3px; color: var(--muted); font-size: 15px; }
.reasons { margin: 2px 0 0; padding-left: 18px; color: var(--ink); }
.story { padding: 26px 0 30px; }
.story + .story { border-top: 1px solid var(--faint); }
.story h3 { margin: 8px 0 18px; font-size: 19px; max-width: 40em; }
.outcome { font-size: 14px; }
.chip { display: inline-block; margin-right: 8px; padding: 2px 10px; border-radius: 99px; font-size: 13px; font-weight: 600; color: var(--good); background: var(--good-wash); }
.lost .chip { color: var(--bad); background: var(--bad-wash); }
.unsolved .chip { color: var(--open); background: var(--open-wash); }
.attempts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(280px, 100%), 1fr)); gap: 16px; }
.attempt { display: flex; flex-direction: column; min-width: 0; padding: 14px 16px 13px; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); box-shadow: var(--shade); }
.attempt.learned { border-color: var(--blue); }
.attempt h4 { display: flex; justify-content: space-between; gap: 12px; padding-bottom: 10px; margin-bottom: 12px; border-bottom: 1px solid var(--faint); }
.reward { font-weight: 500; font-size: 14px; white-space: nowrap; font-variant-numeric: tabular-nums; }
.reward.solved { color: var(--good); }
.reward.failed { color: var(--muted); }
.transcript { margin: 0 0 12px; padding: 0; list-style: none; }
.transcript li { margin-bottom: 7px; }
.text { white-space: pre-wrap; unicode-bidi: isolate; line-height: 1.45; max-height: 340px; overflow-y: auto; }
.transcript .tool { margin: 0 0 11px 1px; padding: 1px 0 1px 12px; border-left: 2px solid var(--line); color: var(--muted); }
.transcript .system, .transcript .user { color: var(--muted); }
.call { padding: 2px 0; line-height: 1.45; }
.call::before { content: "›"; display: inline-block; width: 14px; color: var(--blue); font-weight: 700; }
.call.broken { padding-left: 12px; border-left: 2px solid var(--bad); }
.call.broken::before { content: none; }
.label { display: inline-block; margin-right: 6px; font: 600 12px var(--sans); color: var(--muted); }
.call.broken .label, .tool .label { color: var(--bad); }
.veto { margin: 0 0 10px; padding: 8px 12px; border-radius: 8px; font-size: 14px; line-height: 1.45; background: var(--sunken); }
.veto b { color: var(--bad); }
.checked { margin: auto 0 10px; padding-top: 10px; border-top: 1px solid var(--faint); font-size: 14px; }
.checked div { display: flex; gap: 8px; }
.checked dt { flex: none; color: var(--muted); }
.checked dt::after { content: ":"; }
.checked dd { margin: 0; min-width: 0; }
@media (max-width: 640px) { .arithmetic > li { padding-left: 42px; } }
@media print { .text { max-height: none; } }
`
