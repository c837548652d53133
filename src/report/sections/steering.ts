import { bestLook } from '../../learn/index.ts'
import { count, cut, figure, percent, plural, success } from '../format.ts'
import { type Content, type Html, html } from '../html.ts'
import type { RunReport, Steering } from '../run-report.ts'
import { families } from './families.ts'
import { type Part, section } from './section.ts'

/** One thing that a run did by itself: when, what, and why. */
interface Moment {
  readonly when: string
  readonly what: string
  readonly why: Content
  readonly tone?: 'trouble'
}

/** What the run found, chose and decided; `null` for one that told nothing of it. */
export function steering(report: RunReport): Part | null {
  const { steering: steered } = report
  if (!steered) return null
  const moments = [
    ...start(steered),
    ...checks(steered),
    ...imitation(report, steered),
    ...practice(steered),
    ...steered.returns.map(returned),
    ...end(steered),
    ...stop(steered),
  ]
  return section(
    'steering',
    'What the run decided by itself',
    null,
    html`<ol class="moments">${moments.map(momentItem)}</ol>${families(steered.families)}`,
  )
}

function momentItem({ when, what, why, tone }: Moment): Html {
  return html`<li class="${tone}"><span class="when">${when}</span><div><h3>${what}</h3><div>${why}</div></div></li>`
}

function start({ chosen }: Steering): readonly Moment[] {
  if (!chosen) return []
  const { budget, families: kinds, demonstrations } = chosen
  const why = `An episode may take ${plural(budget.turns, 'turn')} of ${plural(budget.tokensPerTurn, 'token')} each. The training tasks fall into ${
    kinds === 1 ? 'one family' : `${count(kinds)} families`
  }. ${demonstrations === 0 ? 'There is nothing to imitate.' : `${plural(demonstrations, 'demonstration')} can be imitated.`}`
  return [{ when: 'Start', what: 'Set the bounds of an episode', why }]
}

function checks({ findings }: Steering): readonly Moment[] {
  if (findings.length === 0) return []
  const stops = findings.some((finding) => finding.stops)
  return [
    {
      when: 'Check',
      what: `Found ${plural(findings.length, 'thing')} in the job${stops ? ', and did not train' : ''}`,
      why: html`<ul class="reasons">${findings.map(
        ({ code, message, hint }) =>
          html`<li>${cut(message, 1000)} <span class="muted">${cut(hint, 1000)} <code>${code}</code></span></li>`,
      )}</ul>`,
      ...(stops ? { tone: 'trouble' } : {}),
    },
  ]
}

function imitation(report: RunReport, { looks, primeTarget }: Steering): readonly Moment[] {
  const { priming, progress } = report
  const passes = priming.at(-1)?.pass ?? 0
  if (passes === 0) return []
  const when = `Pass ${passes}`
  const what = `Imitated for ${passes === 1 ? '1 pass' : `${passes} passes`}`
  const [best, last] = [bestLook(looks), looks.at(-1)]
  if (!best || !last) {
    return [{ when, what, why: looks.length === 0 && progress.phase !== 'prime' ? 'As it was told to.' : null }]
  }
  const seen = (look: typeof last) =>
    `After pass ${look.pass}, ${percent(look.success)} of the attempts at tasks that were not demonstrated succeeded, and ${percent(look.informative)} of the groups differed in reward.`
  const ended = progress.phase !== null && progress.phase !== 'prime'
  const went =
    ended && best.pass < last.pass ? ` It went on with the weights after pass ${best.pass}, which did best.` : ''
  return [
    {
      when,
      what,
      why: html`${seen(last)}${ended && primeTarget && ` ${reasonToEnd(last, primeTarget)}`}${went}${lookTable(looks)}`,
    },
  ]
}

/** Why imitation ended at a look: the rules of priming, in its order. */
function reasonToEnd(
  last: Steering['looks'][number],
  { success: enough, informative, passes }: NonNullable<Steering['primeTarget']>,
): string {
  if (last.success >= enough) return `So many succeed that practice teaches more (${percent(enough)} were wanted).`
  if (last.informative >= informative)
    return `So many groups differ that practice has something to learn from (${percent(informative)} were wanted).`
  return last.pass >= passes ? `It imitates for ${passes} passes at most.` : 'More imitation brought nothing better.'
}

function lookTable(looks: Steering['looks']): Html {
  return html`<details><summary>What it saw while it imitated</summary><div class="scroll"><table class="figures looks">
    <thead><tr><th scope="col">Pass</th><th scope="col">Succeed</th><th scope="col">Groups differ</th><th scope="col">What the attempts came to</th></tr></thead>
    <tbody>${looks.map(({ pass, success: rate, informative, diagnosis }) => html`<tr><th scope="row">${pass}</th><td>${percent(rate)}</td><td>${percent(informative)}</td><td class="words">${cut(diagnosis.message, 1000)}</td></tr>`)}</tbody></table></div></details>`
}

function practice({ sampledOn: { updates, of }, explored, forced }: Steering): readonly Moment[] {
  const sampledOn: Moment = {
    when: 'Practice',
    what: 'Sampled on where attempts told too little',
    why: `In ${count(updates)} of ${plural(of, 'update')} too few groups differed in reward: tasks at which an attempt failed were attempted again before the step.`,
  }
  const more: Moment = {
    when: 'Practice',
    what: 'Explored where next to nothing succeeded',
    why: `${plural(explored, 'attempt')} more at tasks of such families, warmer or with a hint. What succeeded was imitated.`,
  }
  const otherwise: Moment = {
    when: 'Practice',
    what: 'Forced other acts where all attempts had failed',
    why: `${plural(forced.attempts, 'attempt')} with one act changed. At ${plural(forced.won, 'task')} that succeeded, and was imitated.`,
  }
  return [
    ...(updates > 0 ? [sampledOn] : []),
    ...(explored > 0 ? [more] : []),
    ...(forced.attempts > 0 ? [otherwise] : []),
  ]
}

function returned({ update, rollouts, to, scale }: Steering['returns'][number]): Moment {
  return {
    when: `Update ${update}`,
    what: `Success collapsed, so it returned to ${to === 0 ? 'the primed weights' : `update ${to}`}`,
    why: `Of ${plural(rollouts.n, 'attempt')} ${success(rollouts)} succeeded, far fewer than the same families did before. From there its steps are at most half as long: ×\u00a0${figure(scale)}.`,
    tone: 'trouble',
  }
}

function end({ enough }: Steering): readonly Moment[] {
  return enough ? [{ when: `Update ${enough.update}`, what: 'Ended learning', why: cut(enough.message, 1000) }] : []
}

function stop({ stopped }: Steering): readonly Moment[] {
  if (!stopped) return []
  const { update, message, diagnosis } = stopped
  const why = html`${cut(message, 1000)} ${cut(diagnosis.message, 1000)} <b>What would help:</b> ${cut(diagnosis.hint, 1000)}`
  return [{ when: `Update ${update}`, what: 'Stopped learning before the last update', why }]
}
