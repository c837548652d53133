import { extent } from '../charts/scale.ts'
import { trend } from '../charts/trend.ts'
import { count, cut, percent } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { FamilyCourse } from '../run-report.ts'

const SHOWN = 20
const NAME = 80

/** How the families of tasks fared, the worst first; how many more there are, in a line. */
export function families(all: readonly FamilyCourse[]): Html | false {
  const span = extent(all.flatMap(({ rates }) => rates.map(({ update }) => update)))
  if (span === null) return false
  const dead = all.filter((family) => family.dead).length
  const shown = all.slice(0, SHOWN)
  return html`<div class="families"><h3>How the families of tasks fared</h3>
    <p class="note">A family is what is learned alike: one wording, or what the tasks name. Rates are of recent attempts, after the first and the last update that told them${
      span[0] !== span[1] && html` (${span[0]} and ${span[1]})`
    }. ${dead === 0 ? 'On each of them something succeeds.' : `On ${count(dead)} of ${count(all.length)} nothing succeeds.`}</p>
    <table class="figures">
      <thead><tr><th scope="col">Family</th><th scope="col" class="number">Tasks</th><th scope="col" class="number">First</th><th scope="col" class="number">Last</th><th scope="col" class="course"><span class="hidden">Course</span></th></tr></thead>
      <tbody>${shown.map((family) => row(family, span))}</tbody>
    </table>
    ${rest(all.slice(SHOWN))}</div>`
}

function row({ family, tasks, dead, rates }: FamilyCourse, span: readonly [number, number]): Html {
  const known = rates.flatMap(({ rate }) => rate ?? [])
  const [first, last] = [rateText(known[0]), rateText(known.at(-1))]
  const points = rates.map(({ update, rate }) => ({ at: update, value: rate }))
  return html`<tr class="${dead && 'dead'}"><th scope="row"><bdi>${cut(family, NAME) || '(no name)'}</bdi>${dead && html` <span class="chip">nothing succeeds</span>`}</th>
    <td class="number">${count(tasks)}</td><td class="number">${first}</td><td class="number">${last}</td>
    <td class="course">${known.length > 1 && trend(points, span, `From ${first} to ${last}`)}</td></tr>`
}

const rateText = (rate: number | undefined) => (rate === undefined ? 'n/a' : percent(rate))

function rest(hidden: readonly FamilyCourse[]): Html | false {
  if (hidden.length === 0) return false
  const dead = hidden.filter((family) => family.dead).length
  const best = extent(hidden.flatMap(({ rates }) => rates.at(-1)?.rate ?? []))
  const more = `${count(hidden.length)} more ${hidden.length === 1 ? 'family' : 'families'}`
  return html`<p class="note">${more}, which fare no worse, not shown${best && `: last at ${best[0] === best[1] ? percent(best[0]) : `${percent(best[0])} to ${percent(best[1])}`}`}${dead > 0 && html`, ${count(dead)} of them dead`}.</p>`
}
