import { armName, cut, duration, moment, percent, percentRange, plural, success } from '../format.ts'
import { agentCommand, commandLine } from '../command.ts'
import { type Content, type Html, html } from '../html.ts'
import type { GateArithmetic, RunReport } from '../run-report.ts'
import { outcomeOf, trafficFigures, trafficSentence, type Verdict } from './traffic-headline.ts'

function verdictOf(report: RunReport): Verdict {
  const { run, gate, release, traffic } = report
  const resume = resumption(report)
  switch (run.status) {
    case 'failed':
      return { word: 'Failed', sign: '✕', tone: 'bad', next: adviceOf(report) ?? resume }
    case 'interrupted':
      return { word: 'Interrupted', sign: '‖', tone: 'still', next: resume }
    case 'running':
      return {
        word: 'Running',
        sign: '…',
        tone: 'open',
        next: html`Make the report again with <code>${commandLine(report, `report ${run.id}`)}</code> to see how far it has come.`,
      }
    case 'completed':
      if (traffic?.summary) return outcomeOf(report, traffic.summary, traffic)
      return gate ? decisionOf(report, gate, release) : { word: 'Completed', sign: '·', tone: 'still', next: null }
  }
}

/** How a run goes on that did not complete. */
function resumption(report: RunReport): Content {
  const { run, traffic, reproduce } = report
  if (traffic) {
    return run.status === 'failed'
      ? 'The next run begins anew.'
      : 'The gateway that learns goes on from the last checkpoint by itself, once it runs.'
  }
  if (reproduce === null) return 'Its program goes on from the last checkpoint, when it is given this run to resume.'
  return html`Go on from the last checkpoint with <code>${commandLine(report, `learn --resume ${run.id}`)}</code>.`
}

/** Why a run ended of which the job is the cause and not the machine, as the end of a sentence. */
const causes: ReadonlyMap<string, string> = new Map([
  ['learn/cannot-prime', 'could not be taught to act by imitation, so it did not practise'],
  ['learn/nothing-learned', 'learned nothing beyond imitation'],
  ['learn/noisy-reward', 'cannot learn, because its reward is noise'],
])

/** The cause that the job is of the failure; `null` where a new attempt at the same job may end otherwise. */
function causeOf({ run: { failure }, steering }: RunReport): string | null {
  if (failure === null) return null
  const stopping = steering?.findings.some(({ stops, code }) => stops && code === failure.code)
  return stopping ? 'was not trained: the check found what keeps it from learning' : (causes.get(failure.code) ?? null)
}

/** What would help; and where the job is the cause, that going on does not. */
function adviceOf(report: RunReport): Content | null {
  const { failure } = report.run
  if (failure?.hint === undefined) return null
  return causeOf(report) === null
    ? html`What would help: ${cut(failure.hint, 1000)} ${resumption(report)}`
    : html`What would help: ${cut(failure.hint, 1000)} Then begin a new run: this one, resumed, goes on with the job that it began with.`
}

function decisionOf(
  report: RunReport,
  { decision, reasons, retires }: GateArithmetic,
  release: RunReport['release'],
): Verdict {
  const [why] = reasons
  switch (decision) {
    case 'promote':
      if (release === null) {
        return {
          word: retires === null ? 'Better, and not released' : 'Not missed, and not retired',
          sign: '◐',
          tone: 'open',
          next: html`${report.unreleased ?? 'Nobody gets it yet.'} What served before still serves.`,
        }
      }
      return {
        word: retires === null ? 'Promoted' : 'Retired',
        sign: '✓',
        tone: 'good',
        next: release.servesNow
          ? html`It serves now. <code>${agentCommand(report, 'rollback')}</code> brings back what served before.`
          : 'It no longer serves: it was rolled back, or a later release took its place.',
      }
    case 'hold':
      return {
        word: 'Held',
        sign: '‖',
        tone: 'still',
        next: html`${why} What served before still serves.`,
      }
    case 'need_more_evidence':
      return {
        word: 'Needs more evidence',
        sign: '?',
        tone: 'open',
        next: html`${why} What served before still serves. Hold out more tasks${retires === null && ', or learn for longer'}.`,
      }
    case 'reject':
      return {
        word: 'Rejected',
        sign: '✕',
        tone: 'bad',
        next: html`${why} What served before still serves.`,
      }
  }
}

/** What happened, in one sentence. */
export function sentenceOf(report: RunReport): Content {
  const { run, progress, rates, gate } = report
  const name = html`<bdi>${run.agent}</bdi>`
  if (run.status === 'completed' && rates) {
    const { base, primed, learned } = rates
    if (gate && gate.retires !== null) {
      return html`${name} solves <strong>${success(learned)}</strong> of ${plural(learned.n, 'task')} it had never seen without what “<bdi>${gate.retires}</bdi>” learned, and ${success(base)} with it.`
    }
    const rose = (learned.success ?? 0) > Math.max(primed.success ?? 0, base.success ?? 0)
    return html`${name} ${rose && 'now '}solves <strong>${success(learned)}</strong> of ${plural(learned.n, 'task')} it had never seen${
      rose ? ', up from' : '; it was'
    } ${success(primed)} when primed and ${success(base)} as the base model.`
  }
  if (report.traffic) return trafficSentence(report, report.traffic)
  const where = placeOf(report)
  switch (run.status) {
    case 'failed':
      return html`${name} ${causeOf(report) ?? `failed ${where}`}.`
    case 'interrupted':
      return html`${name} was stopped ${where}.`
    case 'running':
      return html`${name} is at work: last seen ${where}.`
    case 'completed':
      return html`${name} went through its run in ${duration(progress.seconds ?? 0)}, but left no results.`
  }
}

/** Where the run stands, as the end of a sentence. */
function placeOf({ progress: { phase, update, planned }, updates, priming }: RunReport): string {
  switch (phase) {
    case null:
      return 'before its first checkpoint'
    case 'prime':
      return priming.length === 0 ? 'while priming' : `while priming, after pass ${priming.length}`
    case 'improve':
      return updates.length === 0
        ? 'before its first update'
        : `while learning, after update ${update}${planned === null ? '' : ` of ${planned}`}`
    case 'test':
      return 'while it was measured on held-out tasks'
    case 'done':
      return 'after its last checkpoint'
  }
}

/** Title, verdict and the four figures that matter. */
export function headline(report: RunReport): Html {
  const { run, progress, rates, traffic } = report
  const { word, sign, tone, next } = verdictOf(report)
  const facts = [
    moment(run.startedAt),
    ...(progress.seconds === null ? [] : [duration(progress.seconds)]),
    `seed ${run.seed}`,
    ...(progress.resumed > 0 ? [`resumed ${plural(progress.resumed, 'time')}`] : []),
  ]
  return html`<header>
  <p class="eyebrow">Learning run <bdi>${run.id}</bdi></p>
  <p class="verdict ${tone}"><span aria-hidden="true">${sign}</span> ${word}</p>
  <h1>${sentenceOf(report)}</h1>
  ${run.failure && html`<p class="failure">${cut(run.failure.message, 1000)}</p>`}
  ${next !== null && html`<p class="next">${next}</p>`}
  <p class="meta">${facts.map((fact, i) => html`${i > 0 && ' · '}<span>${fact}</span>`)}</p>
  ${rates && steps(rates)}
  ${traffic && trafficFigures(traffic)}
</header>
`
}

function steps(rates: NonNullable<RunReport['rates']>): Html {
  const arms = (['base', 'primed', 'control', 'learned'] as const).flatMap((arm) => {
    const rate = rates[arm]
    return rate ? [{ arm, rate }] : []
  })
  return html`<ol class="steps">
    ${arms.map(
      ({ arm, rate }) => html`<li class="${arm}"><span class="name">${armName[arm]}</span>
      <span class="big">${success(rate)}</span>
      <span class="muted">${rate.success === null ? 'nothing could be scored' : html`95% interval <span class="range">${percentRange(rate.ci)}</span>`}</span>${
        rate.missing > 0 &&
        html`<span class="muted">${rate.missing} without evidence (${percent(rate.missing / (rate.n + rate.missing))})</span>`
      }</li>`,
    )}
  </ol>`
}
