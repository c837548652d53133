import type { Json } from '../../core/index.ts'
import { differenceLine } from '../charts/interval.ts'
import { figure, flatten, inline, percent, plural, signed, words } from '../format.ts'
import { type Content, type Html, html } from '../html.ts'
import type { GateArithmetic, RunReport } from '../run-report.ts'
import { notYet, type Part, section } from './section.ts'

/** Why the gate decided as it did, one step after the other. */
export function gate({ gate: arithmetic, run }: RunReport): Part {
  const title = 'How the gate decided'
  if (!arithmetic) {
    const why =
      run.status === 'running'
        ? 'The gate has not been asked yet: it comes last.'
        : 'The gate was never asked, so nothing was released: what served before still serves.'
    return notYet(title, why)
  }
  const lead = html`Receipt <code>${arithmetic.receipt.slice(0, 12)}</code> of the gate “<bdi>${arithmetic.gate}</bdi>”. It keeps every outcome, and replaying it gives the same decision.`
  return section(
    'gate',
    title,
    lead,
    html`<ol class="arithmetic">${stepsOf(arithmetic)}</ol>${evidence(arithmetic.evidence)}`,
  )
}

function stepsOf(gate: GateArithmetic): readonly Html[] {
  const { tasks, scored, better, worse, means, use, margin, retires, minCoverage, interval, pValue } = gate
  const difference = means && means.candidate - means.baseline
  const steps: (readonly [string, Content])[] = [
    [
      `${plural(tasks, 'task')}, attempted by both`,
      html`The same held-out tasks for what served before and for the candidate. ${scored === tasks ? 'All' : scored} of them have a score in both${
        minCoverage === null ? '.' : html` (${percent(scored / tasks)}; at least ${percent(minCoverage)} are needed).`
      }`,
    ],
    [
      `Better on ${better}, worse on ${worse}, equal on ${scored - better - worse}`,
      shares({ better, equal: scored - better - worse, worse }),
    ],
    ...(means && difference !== null
      ? [
          [
            `The mean difference is ${signed(difference)}`,
            html`Mean reward ${figure(means.candidate)} after, ${figure(means.baseline)} before.${
              interval &&
              html` With the interval at this use’s alpha, [${signed(interval[0])}, ${signed(interval[1])}]${
                margin !== null && html`, against a margin of ${figure(margin)} (dashed)`
              }: ${differenceLine(difference, interval, margin)}`
            }`,
          ] as const,
        ]
      : []),
    [
      `Alpha of this use is ${figure(use.alpha)}`,
      html`This is use ${use.number} of this holdout. ${
        use.total !== null &&
        html`All uses together may spend ${figure(use.total)}: looking at the same tasks again and again cannot make a false promotion likely.`
      }${
        use.level < use.alpha &&
        html` Earlier uses of these tasks may have told which part to retire, so the parts that could be share it: ${figure(use.level)} each.`
      }`,
    ],
    ...(pValue === null
      ? []
      : [
          [
            `p = ${figure(pValue)} ${pValue <= use.level ? '≤' : '>'} ${figure(use.level)}`,
            html`The chance of a result at least this good if the true difference were no more than the margin. ${
              pValue <= use.level ? 'Small enough' : 'Not small enough'
            }: ${retires === null ? 'the gain is' : html`that less is lost without what “<bdi>${retires}</bdi>” learned is`}${pValue > use.level && ' not'} shown.`,
          ] as const,
        ]),
    ...rivals(gate),
    ...guards(gate.evidence),
    [
      decisions[gate.decision],
      html`<ul class="reasons">${gate.reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`,
    ],
  ]
  return steps.map(([title, body]) => html`<li><h3>${title}</h3><div>${body}</div></li>`)
}

const decisions = {
  promote: 'So it is promoted',
  hold: 'So it is held',
  need_more_evidence: 'So more evidence is needed',
  reject: 'So it is rejected',
} as const

function shares(parts: Readonly<Record<'better' | 'equal' | 'worse', number>>): Html {
  const total = Math.max(1, parts.better + parts.equal + parts.worse)
  let at = 0
  const bars = (['better', 'equal', 'worse'] as const).map((name) => {
    const width = (100 * parts[name]) / total
    const bar = html`<rect class="${name}" x="${at}%" width="${width}%" height="14" />`
    at += width
    return bar
  })
  return html`<svg class="shares" width="100%" height="14" role="img" aria-label="Shares of better, equal and worse">${bars}</svg>
    <p class="note"><i class="swatch better"></i>better <i class="swatch equal"></i>equal <i class="swatch worse"></i>worse</p>`
}

/** What the candidate had to beat beside what served: a row for each, the strongest first. */
function rivals({ rivals: all }: GateArithmetic): (readonly [string, Content])[] {
  if (all.length === 0) return []
  const beaten = all.filter((rival) => rival.beaten).length
  return [
    [
      `${beaten === all.length ? 'Beats' : 'Does not beat'} every rival: ${beaten} of ${all.length}`,
      html`It is promoted only if it is shown to be better than each of them, on the same tasks, by whatever.
      <div class="scroll"><table class="figures"><thead><tr><th scope="col">Rival</th><th scope="col">Tasks</th><th scope="col">Its mean reward</th><th scope="col">The candidate’s</th><th scope="col">Difference</th><th scope="col">Interval</th><th scope="col">Beaten</th></tr></thead>
      <tbody>${all.map(rivalRow)}</tbody></table></div>`,
    ],
  ]
}

function rivalRow({ name, scored, means, interval, beaten }: GateArithmetic['rivals'][number]): Html {
  const cells = [
    scored,
    means ? figure(means.rival) : 'none',
    means ? figure(means.candidate) : 'none',
    means ? signed(means.candidate - means.rival) : 'none',
    interval ? `[${signed(interval[0])}, ${signed(interval[1])}]` : 'none',
    beaten === null ? 'not stated' : beaten ? 'yes' : 'no',
  ]
  return html`<tr><th scope="row"><bdi>${name}</bdi></th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`
}

/** What could have stopped the promotion: one row a guard or suite, with whatever the gate wrote down of it. */
function guards(evidence: GateArithmetic['evidence']): (readonly [string, Content])[] {
  const { vetoes } = evidence
  if (typeof vetoes !== 'object' || vetoes === null || Array.isArray(vetoes)) return []
  const rows = Object.entries(vetoes as Readonly<Record<string, Json>>)
  if (rows.length === 0) return []
  const columns = [...new Set(rows.flatMap(([, row]) => flatten(row).map(({ path }) => path.join(' '))))]
  return [
    [
      `${plural(rows.length, 'guard')} looked for harm`,
      html`<div class="scroll"><table class="figures"><thead><tr><th scope="col">Guard</th>${columns.map((name) => html`<th scope="col">${words(name)}</th>`)}</tr></thead>
      <tbody>${rows.map(([name, row]) => {
        const cells = new Map(flatten(row).map(({ path, leaf }) => [path.join(' '), leaf]))
        return html`<tr><th scope="row">${words(name.replace(/^guard /, ''))}</th>${columns.map((column) => html`<td>${inline(cells.get(column) ?? null)}</td>`)}</tr>`
      })}</tbody></table></div>`,
    ],
  ]
}

function evidence(all: GateArithmetic['evidence']): Html {
  return html`<details><summary>Everything the gate computed</summary><div class="scroll"><table class="figures pairs"><tbody>
    ${flatten(all).map(({ path, leaf }) => html`<tr><th scope="row">${path.map(words).join(' › ')}</th><td>${inline(leaf, 6)}</td></tr>`)}
  </tbody></table></div></details>`
}
