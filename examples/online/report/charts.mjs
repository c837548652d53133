// Pictures that stretch with the page while their text does not: places along the width are percentages.
import { html, percent, plural, range, whole } from './markup.mjs'
import { shareOf, toolsAt } from './verdicts.mjs'

const across = (share) => `${Number((100 * Math.min(1, Math.max(0, share))).toFixed(3))}%`
const coordinate = (value) => String(Number(value.toFixed(2)))
const quarters = [0, 0.25, 0.5, 0.75, 1]
const series = (tools) => `s${(tools - 1) % 2}`

/** A mark that tells its version of the tools by shape as well as by colour; hollow where others were in use. */
function mark(x, y, tools, { hollow = false, title = null } = {}) {
  const shape =
    tools === 1 ? html`<circle r="5" />` : html`<rect x="-4.5" y="-4.5" width="9" height="9" transform="rotate(45)" />`
  return html`<svg x="${x}" y="${coordinate(y)}" overflow="visible" class="mark ${series(tools)} ${hollow && 'hollow'}">${title && html`<title>${title}</title>`}${shape}</svg>`
}

export const key = (tools, hollow = false) =>
  html`<svg class="key" width="16" height="12" aria-hidden="true">${mark('50%', 6, tools, { hollow })}</svg>`

/** Shares with their intervals on one scale from 0 to 1, one under the other: `[{ share, kind }]`. */
export function intervals(rows, height = 34) {
  const total = height * rows.length
  return html`<svg width="100%" height="${total}" aria-hidden="true">
    ${quarters.map((at) => html`<line class="grid" x1="${across(at)}" x2="${across(at)}" y1="0" y2="${total}" />`)}
    ${rows.map(({ share, kind }, i) => {
      const y = height * (i + 0.5)
      const [low, high] = share.interval
      return html`<g class="interval ${kind}"><line class="whisker" x1="${across(low)}" x2="${across(high)}" y1="${y}" y2="${y}" />
        <circle class="dot" cx="${across(shareOf(share))}" cy="${y}" r="5" /></g>`
    })}
  </svg>`
}

export const intervalAxis = () =>
  html`<svg class="axis" width="100%" height="18" aria-hidden="true">
    ${[0, 0.5, 1].map((at) => html`<text x="${across(at)}" y="13" text-anchor="${at === 0 ? 'start' : at === 1 ? 'end' : 'middle'}">${percent(at)}</text>`)}
  </svg>`

/** Of so many sessions, these had it. */
export const exposure = (exposed, held, tone) =>
  html`<svg class="exposure ${tone}" width="100%" height="8" aria-hidden="true">
    <rect class="all" width="100%" height="8" rx="4" /><rect class="part" width="${across(held > 0 ? exposed / held : 0)}" height="8" rx="4" />
  </svg>`

const PLOT = 210

function yAxis(height, plot, names = []) {
  return html`<svg class="axis y" width="64" height="${height}" aria-hidden="true">
    ${quarters.map((at) => html`<text x="54" y="${coordinate(plot * (1 - at) + 4)}" text-anchor="end">${percent(at)}</text>`)}
    ${names.map(({ name, y }) => html`<text x="54" y="${y}" text-anchor="end">${name}</text>`)}
  </svg>`
}

const gridOf = (plot) =>
  quarters.map((at) => html`<line class="grid" x1="0" x2="100%" y1="${plot * (1 - at)}" y2="${plot * (1 - at)}" />`)

/** Success of every release by version of the tools, with intervals; the first release goes on as a dashed line. */
export function releasesChart(seed) {
  const { releases, changes } = seed
  const versions = [...new Set(changes.map(({ tools }) => tools))].filter((tools) => releases[0].success[tools])
  const x = (i) => (i + 0.5) / releases.length
  const y = (share) => PLOT * (1 - share)
  const changed = changes[1] ? releases.findIndex(({ at }) => at >= changes[1].at) : -1
  return html`<div class="curve">${yAxis(PLOT + 26, PLOT)}
    <svg class="plot" width="100%" height="${PLOT + 26}" role="img" aria-label="Success of every release; the figures are in the table">
      ${gridOf(PLOT)}
      ${
        changed >= 0 &&
        html`<line class="change" x1="${across(changed / releases.length)}" x2="${across(changed / releases.length)}" y1="0" y2="${PLOT}" />
        <text class="change-label" x="${across(changed / releases.length)}" dx="${changed / releases.length > 0.6 ? -6 : 6}" y="12" text-anchor="${changed / releases.length > 0.6 ? 'end' : 'start'}">tools change</text>`
      }
      ${versions.map((tools) => {
        const level = y(shareOf(releases[0].success[tools]))
        return html`<line class="control ${series(tools)}" x1="0" x2="100%" y1="${coordinate(level)}" y2="${coordinate(level)}" />`
      })}
      ${versions.map((tools, k) =>
        releases.map(({ at, success }, i) => {
          const share = success[tools]
          if (!share) return null
          const place = across(x(i))
          const aside = (k - (versions.length - 1) / 2) * 12
          const title = `${nameOf(i)}, tools ${tools}: ${percent(shareOf(share))} (${range(share.interval)}), ${share.right} of ${share.n}`
          return html`<g transform="translate(${aside} 0)"><line class="whisker ${series(tools)}" x1="${place}" x2="${place}" y1="${coordinate(y(share.interval[0]))}" y2="${coordinate(y(share.interval[1]))}" />
          ${mark(place, y(shareOf(share)), tools, { hollow: toolsAt(seed, at) !== tools, title })}</g>`
        }),
      )}
      ${releases.map((_, i) => html`<text class="${i > 0 && 'muted'}" x="${across(x(i))}" y="${PLOT + 20}" text-anchor="middle">${i === 0 ? 'control' : i}</text>`)}
    </svg></div>`
}

export const nameOf = (i) => (i === 0 ? 'Control' : `Release ${i}`)

/** Sessions over which live success is averaged, and the fewest of them that make a figure. */
export const WINDOW = 50
const FEWEST = 25
const MOST_POINTS = 400
const [LIVE, LANES] = [150, { canaries: 172, runs: 192, alerts: 212 }]
const BOTTOM = 224

/** The share of right first answers among the last sessions with the same tools, after each session. */
function movingShares(sessions) {
  const lines = []
  for (const { at, right, version } of sessions.toSorted((a, b) => a.at - b.at)) {
    let line = lines.at(-1)
    if (line?.version !== version) lines.push((line = { version, scores: [], points: [] }))
    line.scores.push(right ? 1 : 0)
    const recent = line.scores.slice(-WINDOW)
    if (recent.length >= FEWEST) line.points.push({ at, share: recent.reduce((a, b) => a + b, 0) / recent.length })
  }
  const stride = Math.ceil(sessions.length / MOST_POINTS)
  const thin = (points) => points.filter((_, i) => i % stride === 0 || i === points.length - 1)
  return lines.map(({ version, points }) => ({ version, points: thin(points) }))
}

/** Steps from 0 to `most`, few and round. */
function ticks(most, limit) {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440].find((size) => most / size <= limit) ?? most / limit
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step)
}

/** Live traffic over time: how often first answers were right, and what the loop did meanwhile. */
export function timeline(seed) {
  const { sessions, changes, canaries, runs, alerts, releases } = seed
  const start = Math.min(
    changes[0].at,
    sessions.reduce((a, { at }) => Math.min(a, at), Infinity),
  )
  const marks = [
    ...(canaries ?? []).flatMap(({ startedAt, endedAt }) => [startedAt, endedAt ?? startedAt]),
    ...(runs ?? []).map(({ at }) => at),
    ...(alerts ?? []).map(({ at }) => at),
  ]
  const end = Math.max(
    start + 60_000,
    [...sessions.map(({ at }) => at), ...marks].reduce((a, b) => Math.max(a, b), start),
  )
  const x = (at) => (at - start) / (end - start)
  const minutes = (end - start) / 60_000
  const within = ({ at }) => at >= start
  const promoted = (canaries ?? []).filter(({ status, endedAt }) => status === 'promoted' && endedAt)
  // The first promotion is the control's; where other numbers of both are known, nobody can say which is which.
  const numbered = promoted.length === (releases ?? []).length
  return html`<div class="curve">${yAxis(BOTTOM + 44, LIVE, [
    { name: 'canaries', y: LANES.canaries + 4 },
    { name: 'runs', y: LANES.runs + 4 },
    { name: 'alerts', y: LANES.alerts + 4 },
    { name: 'minutes', y: BOTTOM + 18 },
    { name: 'sessions', y: BOTTOM + 34 },
  ])}
    <svg class="plot" width="100%" height="${BOTTOM + 44}" role="img" aria-label="Live success over time; what happened is in the table below">
      ${gridOf(LIVE)}
      ${changes.slice(1).map(({ at }) => html`<line class="change" x1="${across(x(at))}" x2="${across(x(at))}" y1="0" y2="${BOTTOM}" /><text class="change-label" x="${across(x(at))}" y="-6" text-anchor="${x(at) > 0.8 ? 'end' : 'middle'}">tools change</text>`)}
      ${promoted.map(({ endedAt }, i) => endedAt >= start && html`<line class="promotion" x1="${across(x(endedAt))}" x2="${across(x(endedAt))}" y1="0" y2="${LANES.canaries}" />${numbered && html`<text class="promotion-label" x="${across(x(endedAt))}" dx="4" y="${LIVE - 5}">${i === 0 ? 'control' : i}</text>`}`)}
      <svg width="100%" height="${LIVE}" viewBox="0 0 1000 ${LIVE}" preserveAspectRatio="none">
        ${movingShares(sessions).map(({ version, points }) => points.length > 1 && html`<path class="line ${series(version)}" d="M${points.map(({ at, share }) => `${coordinate(1000 * x(at))} ${coordinate(LIVE * (1 - share))}`).join('L')}" />`)}
      </svg>
      ${(canaries ?? []).map((canary) => {
        const ended = canary.endedAt ?? end
        if (ended < start) return null
        const from = Math.max(0, x(canary.startedAt))
        return html`<rect class="canary ${canary.status}" x="${across(from)}" y="${LANES.canaries - 6}" width="${across(Math.max(0.004, x(ended) - from))}" height="12" rx="3"><title>${`Canary, ${outcome(canary.status)}: ${canary.reason ?? 'no reason given'}`}</title></rect>`
      })}
      ${(runs ?? []).filter(within).map((run) => html`<svg x="${across(x(run.at))}" y="${LANES.runs}" overflow="visible" class="run"><title>${`A run, from ${plural(run.sessions, 'fresh session')}: ${run.reason ?? ''}`}</title><rect x="-2" y="-6" width="4" height="12" /></svg>`)}
      ${(alerts ?? []).filter(within).map((alert) => html`<svg x="${across(x(alert.at))}" y="${LANES.alerts}" overflow="visible" class="alert ${alert.kind === 'drift' && 'drift'}"><title>${`${alert.kind}: ${alert.message ?? alert.name}`}</title><path d="M0 -6L6 5H-6Z" /></svg>`)}
      ${ticks(minutes, 5).map((minute) => {
        const at = start + 60_000 * minute
        return html`<line class="tick" x1="${across(x(at))}" x2="${across(x(at))}" y1="${BOTTOM - 2}" y2="${BOTTOM + 3}" />
        <text x="${across(x(at))}" y="${BOTTOM + 18}" text-anchor="${minute === 0 ? 'start' : 'middle'}">${whole(minute)}</text>
        <text class="muted" x="${across(x(at))}" y="${BOTTOM + 34}" text-anchor="${minute === 0 ? 'start' : 'middle'}">${whole(sessions.filter((one) => one.at <= at).length)}</text>`
      })}
    </svg></div>`
}

/** How a canary ended, in words. */
export const outcome = (status) =>
  ({ promoted: 'promoted', 'rolled-back': 'rolled back', ended: 'ended without a verdict', running: 'never ended' })[
    status
  ] ?? status

/** What happened, in order: `{ at, what, why }`. */
export function eventsOf({ changes, canaries, runs, alerts }) {
  return [
    ...changes.map(({ at, tools }) => ({ at, what: `Tools ${tools}`, why: '' })),
    ...(runs ?? []).map(({ at, sessions, imitated, reason }) => ({
      at,
      what: 'Run',
      why: `${plural(sessions, 'fresh session')}, ${plural(imitated, 'demonstration')}. ${reason ?? ''}`,
    })),
    ...(canaries ?? []).flatMap(({ startedAt, endedAt, status, reason, sessions }) => [
      { at: startedAt, what: 'Canary begins', why: status === 'running' ? 'It never ended.' : '' },
      ...(endedAt
        ? [
            {
              at: endedAt,
              what: `Canary ${outcome(status)}`,
              why: `${sessions ? `${whole(sessions.baseline)} sessions of what served, ${whole(sessions.candidate)} of its own. ` : ''}${reason ?? ''}`,
            },
          ]
        : []),
    ]),
    ...(alerts ?? []).map(({ at, kind, name, message }) => ({ at, what: `Alert: ${kind}`, why: message ?? name })),
  ].toSorted((a, b) => a.at - b.at)
}
