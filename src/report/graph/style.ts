/** Colours of the kinds of Parameters in a drawing, in the order of their names. */
const kindColours = ['orange', 'violet', 'blue', 'rose', 'teal'] as const

/** So many kinds have a colour of their own. */
export const stripes = kindColours.length

/** Of a drawing that stands alone: colours by role, for light and dark, as the report has them. */
export const graphStyle = `
svg { color-scheme: light dark; --page: #fbfbf9; --card: #ffffff; --ink: #1a1e22; --muted: #59636d; --edge: #b9bfbd;
  --blue: #0b5cad; --violet: #7a3fa6; --green: #00704f; --orange: #b04a00; --rose: #ad1f5f; --teal: #00696f; }
@media (prefers-color-scheme: dark) {
  svg { --page: #121517; --card: #1d2225; --ink: #e8ebed; --muted: #a3adb6; --edge: #4c565e;
    --blue: #74b4f5; --violet: #c79be8; --green: #5cc9a0; --orange: #f0a264; --rose: #f191b8; --teal: #5fc7cf; }
}
text { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--ink); }
.page { fill: var(--page); }
.title { font-size: 13px; font-weight: 600; }
.note { font-size: 11px; fill: var(--muted); }
.card { fill: var(--card); stroke: var(--edge); }
${kindColours.map((colour, i) => `.kind-${i} .stripe { fill: var(--${colour}); }`).join('\n')}
.outcome .stripe { fill: var(--green); }
.outcome .card { stroke: var(--green); }
.head { font-size: 11px; fill: var(--muted); }
.what { font-size: 12px; }
.from { font-size: 10px; fill: var(--muted); }
.line { fill: none; stroke: var(--muted); stroke-width: 1.5; }
.unused .card, .line.unused { stroke-dasharray: 4 4; stroke: var(--edge); }
.unused .stripe { opacity: 0.35; }
.unused .what { fill: var(--muted); }
`
