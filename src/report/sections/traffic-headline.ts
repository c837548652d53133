import type { TrafficSummary } from '../../learn/index.ts'
import { agentCommand } from '../command.ts'
import { count, figure, percent, plural } from '../format.ts'
import { type Content, type Html, html } from '../html.ts'
import type { RunReport, TrafficCourse } from '../run-report.ts'

type Tone = 'good' | 'still' | 'open' | 'bad'

/** What became of a run, and what to do next. */
export interface Verdict {
  readonly word: string
  readonly sign: string
  readonly tone: Tone
  readonly next: Content
}

/** What became of a run over traffic. A canary goes on after its run: what is told is how it stands now. */
export function outcomeOf(report: RunReport, { outcome, reason }: TrafficSummary, { canary }: TrafficCourse): Verdict {
  switch (outcome) {
    case 'nothing-to-learn':
      return { word: 'Nothing to learn', sign: '·', tone: 'still', next: reason }
    case 'rejected':
      return { word: 'Rejected', sign: '✕', tone: 'bad', next: html`${reason} What served before still serves.` }
    case 'superseded':
      return { word: 'Superseded', sign: '·', tone: 'still', next: reason }
    case 'shadow':
      return {
        word: 'In the shadow',
        sign: '◐',
        tone: 'open',
        next: html`${reason} <code>${agentCommand(report, `try ${report.run.id}`)}</code> lets a share of the sessions get it.`,
      }
    case 'released':
      return {
        word: 'Promoted',
        sign: '✓',
        tone: 'good',
        next: html`${reason} <code>${agentCommand(report, 'rollback')}</code> takes it back.`,
      }
    case 'canary':
      return canary === null ? { word: 'In a canary', sign: '…', tone: 'open', next: reason } : standing(report, canary)
  }
}

function standing(report: RunReport, { status, share, reason }: NonNullable<TrafficCourse['canary']>): Verdict {
  switch (status) {
    case 'running':
      return { word: `In a canary: ${percent(share)}`, sign: '…', tone: 'open', next: reason }
    case 'promoted':
      return {
        word: 'Promoted',
        sign: '✓',
        tone: 'good',
        next: html`${reason} <code>${agentCommand(report, 'rollback')}</code> takes it back.`,
      }
    case 'rolled-back':
      return { word: 'Went back', sign: '✕', tone: 'bad', next: html`${reason} What served before still serves.` }
    case 'ended':
      return { word: 'Given up', sign: '·', tone: 'still', next: html`${reason} What served before still serves.` }
  }
}

/** What happened, in one sentence. */
export function trafficSentence({ run, gate }: RunReport, { gathered, summary, phase }: TrafficCourse): Content {
  const name = html`<bdi>${run.agent}</bdi>`
  const where = phase === null || phase === 'gather' ? 'while it gathered sessions' : `in the phase “${phase}”`
  if (run.status === 'failed') return html`${name} failed ${where}.`
  if (run.status === 'interrupted') return html`${name} was stopped ${where}.`
  if (run.status === 'running') return html`${name} is at work: last seen ${where}.`
  if (gate && gate.retires !== null) {
    return html`${name} was measured without what “<bdi>${gate.retires}</bdi>” learned, on ${plural(gate.tasks, 'held-out task')}.`
  }
  if (gathered === null) return html`${name} ended its run before it gathered a session.`
  const verb = summary?.outcome === 'nothing-to-learn' ? 'found nothing to learn in' : 'learned from'
  return html`${name} ${verb} <strong>${plural(gathered.sessions, 'session')}</strong> of its traffic.`
}

/** The figures that matter of what it learned from. */
export function trafficFigures({ gathered }: TrafficCourse): Html | null {
  if (gathered === null) return null
  const { sessions, seen, meanReward, demonstrations, pairs, vetoed } = gathered
  const items: readonly (readonly [string, string, string])[] = [
    ['Fresh sessions', count(sessions), `of ${count(seen)} in the window`],
    ['Mean reward', meanReward === null ? 'none' : figure(meanReward), `${count(vetoed)} vetoed by a guard`],
    ['Imitated', count(demonstrations), 'answers that people showed, edited or took'],
    ['Preferred', count(pairs), 'pairs of answers'],
  ]
  return html`<ol class="steps">
    ${items.map(([name, value, note]) => html`<li><span class="name">${name}</span><span class="big">${value}</span><span class="muted">${note}</span></li>`)}
  </ol>`
}
