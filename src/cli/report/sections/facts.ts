import type { VersionSet } from '../../../core/index.ts'
import { cut, flatten, inline, moment, plural, words } from '../format.ts'
import { type Content, type Html, html } from '../html.ts'
import type { RunReport } from '../run-report.ts'
import { titled } from './section.ts'

/** What it takes to find the run again, to repeat it and to take it back. */
export function facts(report: RunReport): Html {
  const { run, release, reproduce, unreadEvents } = report
  const rows: (readonly [string, Content])[] = [
    ['Run', html`<code>${run.id}</code>`],
    ['Agent', html`<bdi>${run.agent}</bdi>`],
    ['Seed', run.seed],
    ['Began', moment(run.startedAt)],
    ['Ended', run.endedAt === null ? 'not yet' : moment(run.endedAt)],
    ['Versions before', versions(run.versionsIn)],
    ['Versions after', run.versionsOut ? versions(run.versionsOut) : 'none were proposed'],
    ['Receipt', run.receipt === null ? 'none' : html`<code>${run.receipt}</code>`],
    [
      'Release',
      release
        ? html`<code>${release.release.id}</code> ${release.servesNow ? 'serves now' : 'no longer serves'}`
        : 'none',
    ],
    ...(run.failure ? [['Failure', html`<code>${run.failure.code}</code> ${run.failure.message}`] as const] : []),
    ...(unreadEvents > 0
      ? [['Not shown', `${plural(unreadEvents, 'event')} of this run could not be read by this version.`] as const]
      : []),
  ]
  return titled(
    'facts',
    'The run itself',
    html`<div class="commands">
      ${command('Repeat it', reproduce.command)}
      ${run.status !== 'completed' && run.status !== 'running' && command('Go on with it', `ratchet learn --resume ${run.id}`)}
      ${command('Make this report again', `ratchet report ${run.id}`)}
      ${release?.servesNow && command('Take it back', 'ratchet rollback')}
    </div>
    <dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${
      reproduce.config &&
      html`<details><summary>${reproduce.config.file}, which the command reads</summary><pre>${cut(JSON.stringify(reproduce.config.content, null, 2), 20_000)}</pre></details>`
    }
    <details><summary>The whole configuration</summary><div class="scroll"><table class="figures pairs"><tbody>
      ${flatten(run.config).map(({ path, leaf }) => html`<tr><th scope="row">${path.length === 0 ? 'configuration' : path.map(words).join(' › ')}</th><td>${cut(inline(leaf, 6), 500)}</td></tr>`)}
    </tbody></table></div></details>`,
  )
}

const command = (what: string, line: string) => html`<div><p>${what}</p><pre><code>${line}</code></pre></div>`

const versions = (set: VersionSet) =>
  Object.entries(set).map(
    ([parameter, id]) => html`<span class="version"><bdi>${parameter}</bdi> <code>${id}</code></span> `,
  )
