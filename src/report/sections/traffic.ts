import type { DropReason } from '../../learn/index.ts'
import { count, duration, figure, moment, percent, plural } from '../format.ts'
import { type Content, type Html, html } from '../html.ts'
import type { RunReport, TrafficCourse, TrafficStep } from '../run-report.ts'
import { notYet, type Part, section } from './section.ts'

/** What each reason means, in the words of docs/online.md. */
const reasons: Readonly<Record<DropReason, string>> = {
  'corrupt-record': 'The store cannot read it.',
  'over-limit': 'There were more sessions than a run takes; the newest were taken.',
  'train-forbidden': 'Its client forbids learning.',
  'held-out': 'It judges, and is not learned from.',
  unsettled: 'It was not quiet for long enough; a later run sees it.',
  used: 'An earlier run learned from it.',
  'over-share': 'Its person has more sessions than one may decide.',
  'not-served': 'Another model answered.',
  'candidate-arm': 'A candidate answered that never came to serve.',
  'other-context': 'It was answered under another prompt or tool description than serves now.',
  stale: 'The weights that sampled it serve no more.',
  'missing-reward': 'Nothing tells how it went. That is never counted as 0.',
  'no-logprobs': 'The upstream does not tell the probabilities of its tokens.',
  truncated: 'It was sampled with top_p or top_k, or held to a form (JSON, a forced tool).',
  greedy: 'It was sampled at temperature 0.',
  repeated: 'The client asked again and never saw this answer.',
  'other-temperature': 'Most of the batch was sampled at another temperature.',
  unreadable: 'The schema of its Kind refuses what a decision holds.',
}

/** The parts of a report that only a run over traffic has. */
export function trafficParts({ traffic }: RunReport): readonly Part[] {
  if (traffic === null) return []
  return [evidence(traffic), course(traffic), ...heldOut(traffic), canary(traffic)]
}

function evidence({ gathered }: TrafficCourse): Part {
  const title = 'What it learned from'
  if (gathered === null) return notYet(title, 'It has not gathered its sessions yet.')
  const left = Object.entries(gathered.dropped) as [DropReason, number][]
  const vetoes = Object.entries(gathered.vetoedBy)
  const facts: readonly (readonly [string, Content])[] = [
    ['Known by', moment(gathered.asOf)],
    ['Answers with credit', count(gathered.credited)],
    ['Vetoed', vetoes.length === 0 ? 'none' : vetoes.map(([guard, n]) => `${guard} ${n}`).join(', ')],
    ...(gathered.unknownTools > 0
      ? [['Not imitated', `${plural(gathered.unknownTools, 'demonstration')} of tools that were not offered`] as const]
      : []),
    ['Signals over a share', count(gathered.flood)],
    ...(gathered.age
      ? [
          [
            'Age',
            `${duration(gathered.age.newest)} to ${duration(gathered.age.oldest)}, median ${duration(gathered.age.median)}`,
          ] as const,
        ]
      : []),
  ]
  const body = html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${left.length > 0 && leftOut(left)}`
  const n = left.reduce((sum, [, some]) => sum + some, 0)
  const lead = `${plural(gathered.sessions, 'session')} of ${count(gathered.seen)} in the window. ${n === 0 ? 'None was left out.' : `${count(n)} left out, each for the first reason that holds.`}`
  return section('evidence', title, lead, body)
}

const leftOut = (rows: readonly (readonly [DropReason, number])[]): Html =>
  html`<div class="scroll"><table class="figures pairs"><thead><tr><th scope="col">Left out</th><th scope="col">Sessions</th><th scope="col">Why</th></tr></thead>
    <tbody>${rows.toSorted(([, a], [, b]) => b - a).map(([reason, n]) => html`<tr><th scope="row">${reason}</th><td>${count(n)}</td><td>${reasons[reason]}</td></tr>`)}</tbody></table></div>`

function course({ steps, summary }: TrafficCourse): Part {
  const title = 'How it learned'
  if (steps.length === 0) return notYet(title, summary ? 'It did not train.' : 'It has not trained yet.')
  const lead =
    'Ratio and divergence say how far the weights moved from those that sampled: 1 and 0 where they did not. A loss falls where imitation works.'
  return section(
    'course',
    title,
    lead,
    html`<div class="scroll"><table class="figures pairs"><thead><tr><th scope="col">Step</th><th scope="col">Result</th><th scope="col">Time</th></tr></thead>
      <tbody>${steps.map(stepRow)}</tbody></table></div>
      ${summary && html`<p class="note">${count(summary.tokensTrained)} tokens trained, ${plural(summary.replayed, 'sequence')} of earlier runs among them.</p>`}`,
  )
}

const names = { imitated: 'Imitation, pass', preferred: 'Preference, pass', practised: 'Practice, epoch' } as const

function stepRow(step: TrafficStep): Html {
  switch (step.kind) {
    case 'anchored':
      return row(
        'Held on to old skills',
        `${plural(step.sequences, 'sequence')} at strength ${figure(step.strength)}`,
        null,
      )
    case 'stepped':
      return row('Other parameters, one step', told(step.metrics), step.seconds)
    case 'out-of-bounds':
      return row(
        step.goesOn ? `Practice, epoch ${step.number}, gone back from` : 'Practice stopped',
        `out of bounds: ${moved(step)}`,
        null,
      )
    case 'practised':
      return row(`${names.practised} ${step.number} of ${step.of}`, moved(step), step.seconds)
    case 'imitated':
    case 'preferred':
      return row(
        `${names[step.kind]} ${step.number}${step.of === null ? '' : ` of ${step.of}`}`,
        `loss ${step.loss === null ? 'none' : figure(step.loss)}`,
        step.seconds,
      )
  }
}

const told = (metrics: Readonly<Record<string, number | null>>): string =>
  Object.entries(metrics)
    .map(([name, value]) => `${name} ${value === null ? 'not finite' : figure(value)}`)
    .join(', ')

const moved = ({ ratio, divergence }: { readonly ratio: number | null; readonly divergence: number | null }): string =>
  `ratio ${ratio === null ? 'not finite' : figure(ratio)}, divergence ${divergence === null ? 'not finite' : figure(divergence)}`

const row = (what: string, result: string, seconds: number | null): Html =>
  html`<tr><th scope="row">${what}</th><td>${result}</td><td>${seconds === null ? '' : duration(seconds)}</td></tr>`

/** Held-out tasks, where a program brought some. */
function heldOut({ measured }: TrafficCourse): readonly Part[] {
  if (measured.length === 0) return []
  const body = html`<div class="scroll"><table class="figures"><thead><tr><th scope="col">Tasks</th><th scope="col">Arm</th><th scope="col">Mean reward</th><th scope="col">n</th></tr></thead>
    <tbody>${measured.map(({ suite, arm, meanReward, n }) => html`<tr><th scope="row"><bdi>${suite}</bdi></th><td>${arm === 'learned' ? 'candidate' : 'what served'}</td><td>${meanReward === null ? 'none' : figure(meanReward)}</td><td>${count(n)}</td></tr>`)}</tbody></table></div>`
  return [section('held-out-rewards', 'On held-out tasks', null, body)]
}

function canary({ canary: tried, mode, summary }: TrafficCourse): Part {
  const title = 'The canary'
  if (tried === null) {
    const why =
      summary === null
        ? 'It comes last.'
        : mode === 'shadow'
          ? 'In the mode “shadow” nobody gets a candidate.'
          : mode === 'direct'
            ? 'None: a candidate that passes the held-out tasks serves everybody at once.'
            : 'No session got the candidate.'
    return notYet(title, why)
  }
  const rows: readonly (readonly [string, Content])[] = [
    ['Canary', html`<code>${tried.id}</code>`],
    ['Stands', `${tried.status}, ${percent(tried.share)} of the sessions`],
    ['Because', tried.reason],
    ['Began', moment(tried.startedAt)],
    ['Ended', tried.endedAt === null ? 'not yet' : moment(tried.endedAt)],
  ]
  return section(
    'canary',
    title,
    'As it stood when this report was made.',
    html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`,
  )
}
