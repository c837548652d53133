import { createHash } from 'node:crypto'
import { Html, html } from './html.ts'
import type { RunReport } from './run-report.ts'
import { arms } from './sections/arms.ts'
import { brought } from './sections/brought.ts'
import { curve } from './sections/curve.ts'
import { facts } from './sections/facts.ts'
import { gate } from './sections/gate.ts'
import { headline } from './sections/headline.ts'
import { health } from './sections/health.ts'
import { assemble, type Part } from './sections/section.ts'
import { steering } from './sections/steering.ts'
import { stories } from './sections/stories.ts'
import { trafficParts } from './sections/traffic.ts'
import { styles } from './styles/index.ts'

/**
 * Nothing may be loaded and no script may run; the one style is named by its hash. Whatever a document or a model
 * wrote, the page can only show it.
 */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(styles).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** A run over traffic has no rollouts and no updates; a gate and transcripts only where a program brings held-out tasks. */
function partsOf(report: RunReport): readonly Part[] {
  const judged = [gate, brought, stories]
  if (report.traffic)
    return [...trafficParts(report), ...(report.gate ? judged.flatMap((part) => part(report) ?? []) : [])]
  return [arms, curve, steering, ...judged, health].flatMap((part) => part(report) ?? [])
}

/** A report as one HTML file: no network, no script. Pure: equal reports give equal pages. */
export function renderReport(report: RunReport): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${report.run.agent}: ${report.run.id}</title>
<style>${Html.trusted(styles)}</style>
</head>
<body>
<main>
${headline(report)}
${assemble(partsOf(report))}
${facts(report)}
</main>
<footer>Made by Ratchet from the run’s own records. One file: nothing is loaded, nothing is sent.</footer>
</body>
</html>
`
  return page.toString()
}
