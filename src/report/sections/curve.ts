import { learningCurve } from '../charts/learning-curve.ts'
import { key } from '../charts/marks.ts'
import { clock, count, duration, figure, percent, percentRange, plural, short } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { RunReport } from '../run-report.ts'
import { notYet, type Part, section } from './section.ts'

/** How success rose, update by update, and what it cost. */
export function curve(report: RunReport): Part {
  const { updates, validation, progress } = report
  if (updates.length === 0 && validation.length === 0) {
    return notYet('How it learned', 'There was no update and no look at validation tasks.')
  }
  const lead = html`Validation tasks are never learned from; the band is the 95% interval of a look. Rollouts are the sampled attempts that each update learned from. ${
    progress.best &&
    html`${progress.best.update === 0 ? 'The primed weights' : `The weights after update ${progress.best.update}`} did best on validation (${percent(progress.best.success)}) and were kept.`
  }`
  return section(
    'curve',
    'How it learned',
    lead,
    html`${legend(report)}${chart(report)}${cost(report)}${table(report)}`,
  )
}

function chart({ updates, validation, priming, progress }: RunReport): Html {
  return learningCurve({
    updates,
    validation,
    kept: progress.best?.update ?? null,
    before: { seconds: priming.at(-1)?.seconds ?? 0, tokens: 0 },
  })
}

function legend({ validation, updates }: RunReport): Html {
  return html`<ul class="legend">
    ${validation.map(({ tier }, i) => html`<li>${key(i)} <bdi>${tier}</bdi>, validation</li>`)}
    ${updates.length > 0 && html`<li><svg class="key" width="18" height="12" aria-hidden="true"><line class="rollouts" x1="0" x2="18" y1="6" y2="6" /></svg> rollouts</li>`}
  </ul>`
}

function cost({ updates, priming, progress }: RunReport): Html {
  const speeds = updates.flatMap(({ tokensPerSecond }) => (tokensPerSecond === null ? [] : [tokensPerSecond]))
  const speed = speeds.length === 0 ? null : speeds.reduce((sum, value) => sum + value, 0) / speeds.length
  const items: (readonly [string, string])[] = [
    [
      'Priming',
      priming.length === 0
        ? 'none'
        : `${priming.length === 1 ? '1 pass' : `${priming.length} passes`}, ${duration(priming.at(-1)?.seconds ?? 0)}`,
    ],
    [
      'Learning',
      plural(updates.length, 'update') +
        (updates.length > 0 ? `, ${duration((updates.at(-1)?.seconds ?? 0) - (priming.at(-1)?.seconds ?? 0))}` : ''),
    ],
    ['Tokens sampled', short(progress.tokensSampled)],
    ['Tokens trained', short(progress.tokensTrained)],
    ['Speed', speed === null ? 'no figure' : `${count(speed)} tokens/s`],
  ]
  return html`<dl class="tiles">${items.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

function table({ updates, validation }: RunReport): Html {
  const looks = new Map<number, { tier: string; text: string }[]>()
  for (const { tier, points } of validation) {
    for (const { update, rate } of points) {
      const text = rate.success === null ? 'n/a' : `${percent(rate.success)} (${percentRange(rate.ci)})`
      looks.set(update, [...(looks.get(update) ?? []), { tier, text }])
    }
  }
  const byUpdate = new Map(updates.map((point) => [point.update, point]))
  const steps = [...new Set([...looks.keys(), ...byUpdate.keys()])].toSorted((a, b) => a - b)
  return html`<details><summary>The figures behind this chart</summary><div class="scroll"><table class="figures">
    <thead><tr><th scope="col">Update</th>${validation.map(({ tier }) => html`<th scope="col"><bdi>${tier}</bdi></th>`)}<th scope="col">Rollouts</th><th scope="col">Mean reward</th><th scope="col">Tokens</th><th scope="col">Time</th></tr></thead>
    <tbody>${steps.map((step) => {
      const point = byUpdate.get(step)
      return html`<tr><th scope="row">${step}</th>
        ${validation.map(({ tier }) => html`<td>${looks.get(step)?.find((look) => look.tier === tier)?.text ?? ''}</td>`)}
        <td>${point && point.rollouts.success !== null ? `${percent(point.rollouts.success)} (${percentRange(point.rollouts.ci)})` : ''}</td>
        <td>${point && point.reward !== null ? figure(point.reward) : ''}</td>
        <td>${point ? count(point.tokensSampled) : ''}</td><td>${point ? clock(point.seconds) : ''}</td></tr>`
    })}</tbody></table></div></details>`
}
