import { verdictInWords, type Brought } from '../../gate/index.ts'
import { figure, signed } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { RunReport } from '../run-report.ts'
import { type Part, section } from './section.ts'

/** Which Parameter brought which part of the gain, where several changed in one candidate; `null` for a run without that. */
export function brought({ brought: all }: RunReport): Part | null {
  if (all.length === 0) return null
  const lead =
    'The candidate against itself with one part put back to what served, on the same held-out tasks, with the 95% interval. Parts can bring more together than one by one, or less.'
  return section(
    'brought',
    'What each part brought',
    lead,
    html`<div class="scroll"><table class="figures"><thead><tr><th scope="col">Part</th><th scope="col">Kind</th><th scope="col">Reward with it, less without</th><th scope="col">Interval</th><th scope="col">Tasks</th><th scope="col">So</th></tr></thead>
    <tbody>${all.map(row)}</tbody></table></div>`,
  )
}

function row({ parameter, kind, difference, ci, n, verdict }: Brought): Html {
  const cells = [
    kind,
    difference === null ? 'none' : signed(difference),
    `[${signed(ci[0])}, ${signed(ci[1])}]`,
    figure(n),
    verdictInWords[verdict],
  ]
  return html`<tr><th scope="row"><bdi>${parameter}</bdi></th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`
}
