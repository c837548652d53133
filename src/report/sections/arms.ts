import type { Arm, SuccessRate } from '../../learn/index.ts'
import { intervalAxis, intervalRow } from '../charts/interval.ts'
import { armName, count, percentRange, plural, success } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { RunReport, TierResult } from '../run-report.ts'
import { notYet, type Part, section } from './section.ts'

/** How to read the charts, saying no more than is in them. */
function leadOf(tiers: readonly TierResult[]): string {
  const has = (name: Arm) => tiers.some(({ arms: measured }) => measured.some(({ arm }) => arm === name))
  return [
    'Success on held-out tasks, one greedy attempt each, with its 95% interval.',
    ...(tiers.some(({ baselines }) => baselines.length > 0)
      ? ['Diamonds are scripted policies that learn nothing.']
      : []),
    ...(has('primed') ? ['Primed: after imitating the demonstrations.'] : []),
    ...(has('control') ? ['Control: imitation alone, for as long as learning took.'] : []),
  ].join(' ')
}

/** Every arm and every baseline on held-out tasks, with intervals, tier by tier. */
export function arms({ tiers, run }: RunReport): Part {
  const title = 'On tasks it had never seen'
  if (tiers.length > 0)
    return section('held-out', title, leadOf(tiers), html`<div class="tiers">${tiers.map(tierChart)}</div>`)
  return notYet(
    title,
    run.status === 'completed'
      ? 'No arm was measured on held-out tasks.'
      : 'Held-out tasks are measured once, after the last update.',
  )
}

function tierChart({ tier, judged, arms: measured, baselines }: TierResult): Html {
  const all = [
    ...baselines.map(({ name, rate }) => ({ name: sentenceCase(name), rate })),
    ...measured.map(({ arm, rate }) => ({ name: armName[arm], rate })),
  ]
  const standing = judged === null ? [] : [judged ? 'Trained, and judged by the gate' : 'Not trained: measured beside']
  return html`<figure class="tier">
    <figcaption><b><bdi>${tier}</bdi></b><span class="muted">${[...standing, ...sizes(all)].join(' · ')}</span></figcaption>
    <table class="intervals">
      <thead><tr><th scope="col">Policy</th><th scope="col" class="plot"><span class="hidden">Success with its interval</span></th><th scope="col" class="number">Success</th></tr></thead>
      ${
        baselines.length > 0 &&
        html`<tbody class="baselines">${baselines.map(({ name, rate }) => row(sentenceCase(name), rate, 'baseline'))}</tbody>`
      }
      <tbody>${measured.map(({ arm, rate }) => row(armName[arm], rate, arm === 'learned' ? 'learned' : 'arm'))}</tbody>
      <tfoot><tr><td></td><td class="plot">${intervalAxis()}</td><td></td></tr></tfoot>
    </table>
    ${missing(all)}
  </figure>`
}

function row(name: string, rate: SuccessRate, kind: 'baseline' | 'arm' | 'learned'): Html {
  return html`<tr class="${kind}"><th scope="row"><bdi>${name}</bdi></th>
    <td class="plot">${intervalRow(rate, kind)}</td>
    <td class="number"><b>${success(rate)}</b>${rate.success !== null && html`<small>${percentRange(rate.ci)}</small>`}</td></tr>`
}

interface Named {
  readonly name: string
  readonly rate: SuccessRate
}

/** How many tasks: once when all agree, else for each. */
function sizes(all: readonly Named[]): readonly string[] {
  const counts = all.map(({ name, rate }) => ({ name, n: rate.n + rate.missing }))
  const [first] = counts
  if (!first) return []
  return counts.every(({ n }) => n === first.n)
    ? [plural(first.n, 'task')]
    : [`Tasks: ${counts.map(({ name, n }) => `${name} ${count(n)}`).join(', ')}`]
}

/** Episodes without evidence, which no rate counts. */
function missing(all: readonly Named[]): Html | false {
  const lacking = all.filter(({ rate }) => rate.missing > 0)
  return (
    lacking.length > 0 &&
    html`<p class="note">Without evidence, and counted in no rate: ${lacking.map(({ name, rate }) => `${name} ${count(rate.missing)}`).join(', ')}.</p>`
  )
}

const sentenceCase = (name: string) => name.slice(0, 1).toUpperCase() + name.slice(1)
