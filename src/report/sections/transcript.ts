import type { Message, ToolCall } from '../../core/index.ts'
import { cut, flatten, inline, plural } from '../format.ts'
import { type Html, html } from '../html.ts'

/** What a page holds of one message, of one call and of one transcript. */
const LONGEST_TEXT = 2000
const LONGEST_NAME = 80
const MOST_MESSAGES = 40
const MOST_ARGUMENTS = 12

/** A conversation as calls and results. The task's own words are left out: they stand above. */
export function transcript(messages: readonly Message[], instruction: string): Html {
  const told = messages.filter(({ role, content }) => !(role === 'user' && content === instruction))
  const shown = told.slice(0, MOST_MESSAGES)
  if (shown.length === 0) return html`<p class="note">It said nothing.</p>`
  return html`<ol class="transcript">${shown.map((message) => html`<li class="${message.role}">${turn(message)}</li>`)}</ol>
    ${told.length > shown.length && html`<p class="note">… ${plural(told.length - shown.length, 'more message')}</p>`}`
}

function turn(message: Message): Html {
  switch (message.role) {
    case 'assistant': {
      const { content, toolCalls = [], malformedCalls = [] } = message
      const silent = content.trim() === '' && toolCalls.length + malformedCalls.length === 0
      return html`${silent && html`<p class="note">said nothing</p>`}${content.trim() !== '' && text(content)}${toolCalls.map(call)}${malformedCalls.map(
        ({ text: raw, problem }) =>
          html`<div class="call broken"><span class="label">could not be read</span>${text(raw)}<p class="note">${cut(problem, 300)}</p></div>`,
      )}`
    }
    case 'tool':
      return html`${message.isError === true && html`<span class="label">error</span>`}${text(message.content)}`
    case 'system':
    case 'user':
      return html`<span class="label">${message.role}</span>${text(message.content)}`
  }
}

function call({ name, arguments: given }: ToolCall): Html {
  const values = flatten(given)
    .filter(({ path }) => path.length > 0)
    .slice(0, MOST_ARGUMENTS)
  const [only] = values
  const args =
    values.length === 1 && only
      ? html`<bdi>${cut(inline(only.leaf), LONGEST_TEXT)}</bdi>`
      : values.map(
          ({ path, leaf }, i) =>
            html`${i > 0 && ', '}<bdi>${cut(path.join('.'), LONGEST_NAME)}: ${cut(inline(leaf), LONGEST_TEXT)}</bdi>`,
        )
  return html`<div class="call"><b><bdi>${cut(name, LONGEST_NAME)}</bdi></b> ${args}</div>`
}

const text = (content: string) => html`<div class="text" dir="auto">${cut(content, LONGEST_TEXT)}</div>`
