import type { Reward, StopReason } from '../../core/index.ts'
import { armName, cut, figure, flatten, inline, plural, words } from '../format.ts'
import { type Html, html } from '../html.ts'
import type { Attempt, RunReport, Story } from '../run-report.ts'
import { notYet, type Part, section } from './section.ts'
import { transcript } from './transcript.ts'

const outcomes: Readonly<Record<Story['outcome'], string>> = {
  gained: 'Learned',
  lost: 'Lost: it could do this before',
  unsolved: 'Still fails',
}

/** The same task before and after. */
export function stories({ stories: told, gate }: RunReport): Part {
  const title = 'The same task, before and after'
  if (told.length === 0) {
    const why = !gate
      ? 'Transcripts are shown once the gate has compared the agents on held-out tasks.'
      : 'No held-out task came out differently, and none was failed; or their episodes are no longer in the store.'
    return notYet(title, why)
  }
  const gained = told.filter(({ outcome }) => outcome === 'gained').length
  const lead = html`${gained > 0 && html`${plural(gained, 'held-out task')} that the learned agent solved and the agent before it did not: drawn by the run’s id, not picked. `}${
    told.length > gained && 'The last one it failed.'
  }`
  return section('stories', title, lead, told.map(storyOf))
}

function storyOf({ task, outcome, attempts }: Story): Html {
  return html`<article class="story ${outcome}">
    <p class="outcome"><span class="chip">${outcomes[outcome]}</span>${task.tier !== null && html` <span class="muted"><bdi>${cut(task.tier, 80)}</bdi></span>`}</p>
    <h3><bdi>${cut(task.instruction, 600)}</bdi></h3>
    <div class="attempts">${attempts.map((attempt) => attemptOf(attempt, task.instruction))}</div>
  </article>`
}

function attemptOf(attempt: Attempt, instruction: string): Html {
  const { arm, reward, solved, stopReason, failure, tokens } = attempt
  return html`<section class="attempt ${arm}">
    <h4><span>${armName[arm]}</span> <span class="reward ${solved === true ? 'solved' : 'failed'}">${rewardText(reward, solved)}</span></h4>
    ${transcript(attempt.messages, instruction)}
    ${reward.status === 'vetoed' && html`<p class="veto"><b>Vetoed by <bdi>${cut(reward.guard, 80)}</bdi></b>: ${cut(reward.reason, 300)}</p>`}
    ${reward.status === 'missing' && html`<p class="veto"><b>No evidence</b>: ${cut(reward.reason, 300)}</p>`}
    ${failure && html`<p class="veto"><b><bdi>${cut(failure.code, 80)}</bdi></b>: ${cut(failure.message, 300)}</p>`}
    ${checked(attempt)}
    <p class="note">${ending[stopReason]} · ${plural(tokens, 'token')} sampled</p>
  </section>`
}

function rewardText(reward: Reward, solved: boolean | null): string {
  if (reward.status === 'missing') return 'no reward'
  return `${solved === true ? '✓' : '✕'} reward ${figure(reward.value)}`
}

/** What the checker read, without the task's id. */
function checked({ finalState }: Attempt): Html | false {
  const rows = flatten(finalState).filter(
    ({ path, leaf }) => path.length > 0 && path.at(-1) !== 'task' && leaf !== null,
  )
  return (
    rows.length > 0 &&
    html`<dl class="checked">${rows.slice(0, 6).map(({ path, leaf }) => html`<div><dt>${cut(path.map(words).join(' › '), 80)}</dt><dd><bdi>${cut(Array.isArray(leaf) ? leaf.map(inline).join(' or ') : inline(leaf), 200)}</bdi></dd></div>`)}</dl>`
  )
}

const ending: Readonly<Record<StopReason, string>> = {
  done: 'ended by itself',
  'malformed-call': 'ended: a call could not be read',
  'tool-errors': 'ended: too many calls failed',
  'turn-budget': 'ended: out of turns',
  'token-budget': 'ended: out of tokens',
  'time-budget': 'ended: out of time',
  'context-length': 'ended: the context was full',
  interrupted: 'cut: the recording process died',
  straggler: 'cut: the rest of the batch had finished',
  cancelled: 'cancelled',
  'environment-error': 'ended: the environment failed',
  'model-error': 'ended: the model failed',
  'agent-error': 'ended: the agent’s code failed',
}
