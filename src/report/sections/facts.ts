import { defaultTenant, shellWord, type VersionSet } from '../../core/index.ts'
import { cut, flatten, inline, moment, plural, words } from '../format.ts'
import { type Content, type Html, html } from '../html.ts'
import type { RunReport, TrafficCourse } from '../run-report.ts'
import { agentCommand, commandLine } from '../command.ts'
import { titled } from './section.ts'

/** What it takes to find the run again, to repeat it and to take it back. */
export function facts(report: RunReport): Html {
  const { run, release, reproduce, traffic, unreadEvents } = report
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
      ${reproduce && command('Repeat it', `npx ratchet ${reproduce.arguments}`)}
      ${reproduce && run.status !== 'completed' && run.status !== 'running' && command('Go on with it', commandLine(report, `learn --resume ${run.id}`))}
      ${traffic && trafficCommands(report, traffic)}
      ${command('Make this report again', commandLine(report, `report ${run.id}`))}
      ${release?.servesNow && command('Take it back', agentCommand(report, 'rollback'))}
    </div>
    <dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${
      reproduce?.config &&
      html`<details><summary>${reproduce.config.file}: save this before you repeat the run</summary><pre>${cut(JSON.stringify(reproduce.config.content, null, 2), 20_000)}</pre></details>`
    }
    <details><summary>The whole configuration</summary><div class="scroll"><table class="figures pairs"><tbody>
      ${flatten(run.config).map(({ path, leaf }) => html`<tr><th scope="row">${path.length === 0 ? 'configuration' : path.map(words).join(' › ')}</th><td>${cut(inline(leaf, 6), 500)}</td></tr>`)}
    </tbody></table></div></details>`,
  )
}

/** Where to look at what it learned from, and at what became of its candidate. */
function trafficCommands(report: RunReport, { agent, canary, summary }: TrafficCourse): Html {
  const tenant = agent === null || agent.tenant === defaultTenant ? '' : ` --tenant ${agent.tenant}`
  return html`
      ${agent && command('See the sessions', commandLine(report, `trajectories --agent ${shellWord(agent.name)}${tenant}`))}
      ${summary?.outcome === 'shadow' && command('Let a share of the sessions get its candidate', agentCommand(report, `try ${report.run.id}`))}
      ${canary && command('Follow its canary', agentCommand(report, 'canaries'))}`
}

const command = (what: string, line: string) => html`<div><p>${what}</p><pre><code>${line}</code></pre></div>`

const versions = (set: VersionSet) =>
  Object.entries(set).map(
    ([parameter, id]) => html`<span class="version"><bdi>${parameter}</bdi> <code>${id}</code></span> `,
  )
