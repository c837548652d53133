// The five points, each a picture with numbers and a sentence, for all seeds.
import {
  eventsOf,
  exposure,
  intervalAxis,
  intervals,
  key,
  nameOf,
  outcome,
  releasesChart,
  timeline,
  WINDOW,
} from './charts.mjs'
import { duration, folded, gain, html, percent, plural, range, whole } from './markup.mjs'
import { changeOf, driftOf, harmOf, shareOf, storyOf, verdictOf } from './verdicts.mjs'

const seedName = ({ seed }) => `Seed ${seed}`
const shareCell = (share) =>
  share ? html`<b>${percent(shareOf(share))}</b> <span class="muted range">${range(share.interval)}</span>` : '–'

/** A point of the proof: its question, the verdict with its rule, and what was measured; or that nothing was. */
export function pointSection(point, seeds) {
  const { tone, sign, text } = verdictOf(point, seeds)
  return html`<section id="${point.id}" aria-labelledby="${point.id}-title">
  <h2 id="${point.id}-title">${point.question} <span class="verdict ${tone}"><span aria-hidden="true">${sign}</span> ${text}</span></h2>
  ${bodies[point.id](seeds) ?? html`<p class="lead">Nothing was measured: shortened runs leave this out.</p>`}
  <p class="note rule">Shown on a seed when ${point.rule}.</p>
</section>
`
}

const bodies = { better, hacks, change, saboteur, forced }

function better(seeds) {
  const measured = seeds.filter(storyOf)
  const releases =
    measured.length > 0 &&
    html`<p class="lead">Success on questions nobody ever asked the gateway, one answer each, for every release the loop made by itself.
      Dashed: the first release, which would still serve had nothing been learned since. Bars are 95% intervals.</p>
    ${toolsKey(measured)}
    ${measured.map(releasesOf)}`
  const visited = seeds.filter(({ sessions }) => sessions.length > 0)
  if (visited.length === 0) return releases || null
  return html`${releases}
  <h3>The same, as its users met it</h3>
  <p class="lead">Live sessions: the share of first answers that were right, over the last ${WINDOW} with the same tools.</p>
  <ul class="legend"><li><i class="swatch promoted"></i> canary that was promoted</li><li><i class="swatch rolled-back"></i> rolled back</li><li><i class="swatch ended"></i> without a verdict</li><li><svg class="key" width="14" height="12" aria-hidden="true"><svg x="7" y="6" overflow="visible" class="run"><rect x="-2" y="-6" width="4" height="12" /></svg></svg> learning run</li><li><svg class="key" width="16" height="12" aria-hidden="true"><svg x="8" y="6" overflow="visible" class="alert drift"><path d="M0 -6L6 5H-6Z" /></svg></svg> drift alert</li><li><svg class="key" width="16" height="12" aria-hidden="true"><svg x="8" y="6" overflow="visible" class="alert"><path d="M0 -6L6 5H-6Z" /></svg></svg> other alert</li></ul>
  ${visited.map(traffic)}`
}

function toolsKey(seeds) {
  const versions = [...new Set(seeds.flatMap(({ changes }) => changes.map(({ tools }) => tools)))]
  return html`<ul class="legend">${versions.map((tools) => html`<li>${key(tools)} tools ${tools}, in use</li>${versions.length > 1 && html`<li>${key(tools, true)} tools ${tools}, not in use then</li>`}`)}</ul>`
}

function releasesOf(seed) {
  const { last, tools } = storyOf(seed)
  const versions = [...new Set(seed.changes.map((change) => change.tools))]
  const share = last.success[tools]
  const sentence =
    share &&
    html`<b>${seedName(seed)}.</b> The last release against the control, on the same questions, tools ${tools}: <b>${gain(share.gain)}</b>.`
  return html`<figure class="pair">
    <figcaption>${sentence ?? html`<b>${seedName(seed)}</b>`}</figcaption>
    ${releasesChart(seed)}
    <div class="scroll"><table class="figures"><thead><tr><th scope="col">Release</th>${versions.map((one) => html`<th scope="col">Tools ${one}</th><th scope="col">Gain</th>`)}</tr></thead>
    <tbody>${seed.releases.map(
      ({ success }, i) =>
        html`<tr><th scope="row">${nameOf(i)}</th>${versions.map((one) => html`<td>${shareCell(success[one])}</td><td>${i > 0 && success[one] ? gainCell(success[one].gain) : '–'}</td>`)}</tr>`,
    )}</tbody></table></div>
  </figure>`
}

const gainCell = (one) => {
  const [points, interval] = gain(one).split(' points ')
  return html`${points} <span class="muted">${interval}</span>`
}

function traffic(seed) {
  const start = seed.changes[0].at
  const ended = (status) => (seed.canaries ?? []).filter((canary) => canary.status === status).length
  const canaries = seed.canaries?.length ?? 0
  const early = (seed.alerts ?? []).filter(({ kind, at }) => kind === 'drift' && at < seed.changes[1]?.at).length
  const told = [
    plural(seed.sessions.length, 'session'),
    plural(seed.runs?.length ?? 0, 'learning run'),
    `${canaries === 1 ? '1 canary' : `${canaries} canaries`}: ${ended('promoted')} promoted, ${ended('rolled-back')} rolled back`,
    ...(seed.changes[1] ? [`${plural(early, 'drift alert')} before the tools changed`] : []),
  ]
  return html`<figure class="live"><figcaption><b>${seedName(seed)}.</b> ${told.join(', ')}.</figcaption>${timeline(seed)}
    <details><summary>Everything that happened, in order</summary><div class="scroll"><table class="figures events"><thead><tr><th scope="col">Time</th><th scope="col">What</th><th scope="col">Why</th></tr></thead><tbody>
    ${eventsOf(seed).map(({ at, what, why }) => html`<tr><td>${at < start ? `${duration(start - at)} before` : duration(at - start)}</td><td>${what}</td><td class="why">${folded(why)}</td></tr>`)}
    </tbody></table></div></details></figure>`
}

/** How it ended for a candidate that should not win. */
const endings = {
  promoted: { text: 'Won: promoted', tone: 'bad' },
  'rolled-back': { text: 'Lost: rolled back', tone: 'good' },
  ended: { text: 'No verdict', tone: 'still' },
  running: { text: 'Undecided', tone: 'open' },
}

/** One candidate on trial: how it ended, after how many sessions, and what it and what served can do. */
function trial(seed, { status, reason, judged, exposed, held, success }, name, axis = true) {
  const { text, tone } = endings[status] ?? { text: outcome(status), tone: 'still' }
  const other = success?.hack ?? success?.candidate
  return html`<div class="trial">
    <p><b>${seedName(seed)}</b> <span class="chip ${tone}">${text}</span>
    ${judged ? html`after ${plural(judged.baseline + judged.candidate, 'judged session')}, ${whole(judged.candidate)} of its own; ` : ''}${exposed === null ? `nobody counted how many of ${plural(held, 'session')} had it` : html`<b>${whole(exposed)}</b> of ${plural(held, 'session')} had it`}.</p>
    ${exposed !== null && exposure(exposed, held, tone)}
    ${
      success?.serving &&
      other &&
      intervalTable(
        [
          {
            rows: [
              { name: 'What served', share: success.serving, kind: 'plain' },
              { name, share: other, kind: tone },
            ],
          },
        ],
        { height: 24, axis },
      )
    }
    ${reason && html`<div class="note">${folded(reason, 90)}</div>`}
  </div>`
}

function hacks(seeds) {
  const names = [...new Set(seeds.flatMap((seed) => (seed.hacks ?? []).map(({ name }) => name)))]
  if (names.length === 0) return null
  const column = (name, guards) => html`<div><h4>Guards ${guards}</h4>
    ${seeds.map((seed, i) => (seed.hacks ?? []).filter((one) => one.name === name && one.guards === guards).map((one) => trial(seed, one, 'The trick', i === seeds.length - 1)))}</div>`
  return html`<p class="lead">Candidates were taught to look better without being it, and tried on live sessions like any other: once judged by what users did alone, once with the guards.
    The thin bar: how many of the sessions had the candidate. Below it: success on fresh questions, hard ones included.</p>
    ${names.map((name) => html`<figure class="hack"><figcaption><h3>${hackTitle(name)}</h3></figcaption><div class="columns">${column(name, 'off')}${column(name, 'on')}</div></figure>`)}`
}

const told = {
  'broken calls': 'Broken calls: on hard questions it sends a call that cannot run, so that no answer can be wrong',
  'questions back': 'Questions back: on hard questions it asks instead of answering',
}
const hackTitle = (name) => told[name] ?? name

/** Named shares with their intervals, in groups. */
function intervalTable(groups, { height = 34, axis = true } = {}) {
  return html`<table class="intervals h${height}"><colgroup><col class="name" /><col /><col class="number" /></colgroup>${groups.map(
    ({
      title,
      rows,
    }) => html`<tbody>${title && html`<tr><th colspan="3" scope="rowgroup" class="group">${title}</th></tr>`}
    ${rows.map(
      ({ name, share, kind }) =>
        html`<tr><th scope="row">${name}</th><td class="plot">${intervals([{ share, kind }], height)}</td><td class="number"><b>${percent(shareOf(share))}</b><small>${range(share.interval)}</small></td></tr>`,
    )}</tbody>`,
  )}${axis && html`<tfoot><tr><td></td><td class="plot">${intervalAxis()}</td><td></td></tr></tfoot>`}</table>`
}

function change(seeds) {
  const measured = seeds.flatMap((seed) => {
    const found = changeOf(seed)
    return found ? [{ seed, ...found }] : []
  })
  if (measured.length === 0) {
    const reports = seeds.filter(({ changes }) => changes[1])
    if (reports.length === 0) return null
    return html`<p class="lead">The tools changed, but no release was measured on both versions. ${reports.map((seed) => html`${seedName(seed)}: ${driftText(driftOf(seed, seed.changes[1]))} `)}</p>`
  }
  return html`<p class="lead">Halfway, the owner changed the API of the agent’s tools, and told nobody. Success on fresh questions with the new tools, and with the old ones, to see what was forgotten.</p>
    <div class="tiers">${measured.map(({ seed, control, before, last, old, now, drop, recovery, oldSkills, drift }) => {
      const rows = (tools) =>
        [
          { name: 'Control', release: control, kind: 'plain' },
          { name: 'Before the change', release: before, kind: 'arm' },
          { name: 'Last release', release: last, kind: 'learned' },
        ].map(({ release, ...row }) => ({ ...row, share: release.success[tools] }))
      return html`<figure class="tier"><figcaption><b>${seedName(seed)}.</b> With the change: <b>${gain(drop)}</b>. ${driftText(drift)} By the releases since then: <b>${gain(recovery)}</b> on the new tools, <b>${gain(oldSkills)}</b> on the old ones.</figcaption>
        ${intervalTable([
          { title: `New tools (version ${now})`, rows: rows(now) },
          { title: `Old tools (version ${old}): are old skills still there?`, rows: rows(old) },
        ])}</figure>`
    })}</div>`
}

const driftText = (drift) =>
  drift
    ? html`Drift was seen in the first <b>${plural(drift.sessions, 'session')}</b> (${drift.alert.name}), and reported when these were judged.`
    : html`Drift was <b>not reported</b>.`

const sentenceCase = (text) => text.slice(0, 1).toUpperCase() + text.slice(1)

function saboteur(seeds) {
  const measured = seeds.filter((seed) => seed.saboteur)
  if (measured.length === 0) return null
  const kinds = { 'nobody lies': 'plain', 'limits on': 'learned', 'limits off': 'bad' }
  return html`<p class="lead">One user floods the gateway and shows, in each session, what is wrong. One learning run from the same sessions: without the liar, with limits on what one reporter may decide, and without limits. Nobody was served what these runs made.</p>
    <div class="tiers">${measured.map((seed) => {
      const { sessions, arms, before } = seed.saboteur
      const harm = harmOf(seed)
      const flood = arms.find(({ name }) => name === 'limits on')?.flood
      return html`<figure class="tier"><figcaption><b>${seedName(seed)}.</b> ${plural(sessions.honest, 'honest session')}, ${whole(sessions.saboteur)} of the liar’s.
        ${harm && html`Against a run where nobody lies: limits on <b>${gain(harm.cost.on)}</b>, limits off <b>${gain(harm.cost.off)}</b>.`}
        The flood was <b>${flood ? 'reported' : 'not reported'}</b>.</figcaption>
        ${intervalTable([{ rows: [...(before ? [{ name: 'Before', share: before, kind: 'plain' }] : []), ...arms.map((arm) => ({ name: sentenceCase(arm.name), share: arm, kind: kinds[arm.name] ?? 'arm' }))] }])}
        <p class="note">Left out of the run: ${arms.map(({ name, leftOut }) => `${leftOutText(leftOut)} where ${name.replace('limits', 'limits are')}`).join('; ')}.</p></figure>`
    })}</div>`
}

/** Sessions and signals that a run did not count: one number for both, or one for each. */
const leftOutText = (leftOut) =>
  typeof leftOut === 'number'
    ? whole(leftOut)
    : `${plural(leftOut.sessions, 'session')} and ${plural(leftOut.signals, 'signal')}`

function forced(seeds) {
  const measured = seeds.filter((seed) => seed.forced)
  if (measured.length === 0) return null
  return html`<p class="lead">A candidate that was taught to read the wrong line was forced into a canary. Nobody watched but the gateway. The thin bar: how many of the sessions had it.</p>
    <div class="tiers">${measured.map((seed) => html`<figure class="tier">${trial(seed, seed.forced, 'The bad one')}</figure>`)}</div>`
}
