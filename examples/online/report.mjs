// The page of the proof: five questions, each answered by a picture, its numbers and a rule that anybody can check.
import { createHash } from 'node:crypto'
import { header } from './report/header.mjs'
import { duration, html, moment, trusted } from './report/markup.mjs'
import { pointSection } from './report/sections.mjs'
import { styles } from './report/styles.mjs'
import { points } from './report/verdicts.mjs'

/** Nothing may be loaded and no script may run; the one style is named by its hash. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(styles).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/**
 * Results as one HTML file: no network, no script. Pure: equal results give equal pages.
 * @param results what `main.mjs` writes to `results.json`. Sections that a run left out are `null` or missing.
 * @returns the page. Its verdicts follow from the figures, by the rules in `report/verdicts.mjs`.
 */
export function renderReport(results) {
  const { seeds } = results
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>An agent that learns while it serves</title>
<style>${trusted(styles)}</style>
</head>
<body>
<main>
${header(results)}
${points.map((point) => pointSection(point, seeds))}
${facts(results)}
</main>
<footer>Made by Ratchet from results.json. One file: nothing is loaded, nothing is sent.</footer>
</body>
</html>
`.toString()
}

function facts({ command, commit, machine, at, quick, seeds }) {
  const rows = [
    ['Command', html`<code>${command}</code>`],
    ['Commit', html`<code>${commit}</code>`],
    ['Machine', machine],
    ['Written', moment(at)],
    ['Seeds', seeds.map(({ seed, seconds }) => `${seed} (${duration(1000 * seconds)})`).join(', ')],
    ...(quick ? [['Length', 'shortened: what is left out says so']] : []),
    [
      'Intervals',
      '95%: Wilson’s for shares; paired on the same questions for gains over the control; Newcombe’s, as if the questions were different ones, for other differences',
    ],
  ]
  return html`<section id="facts" aria-labelledby="facts-title">
  <h2 id="facts-title">The run itself</h2>
  <dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
</section>
`
}
