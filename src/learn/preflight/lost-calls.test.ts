import { expect, it } from 'vitest'
import type { Message, Renderer, ToolDefinition } from '../../core/index.ts'
import { commandLine } from '../../model/renderer/command-line.ts'
import { lostCalls } from './lost-calls.ts'

type Shows = Pick<Renderer, 'name' | 'renderAssistant' | 'parse'>
const tools: readonly ToolDefinition[] = [
  { name: 'search', description: '', parameters: { type: 'object', properties: { query: { type: 'string' } } } },
]
const letters = (text: string) => Array.from(text, (letter) => letter.codePointAt(0) ?? 0)
const textOf = (tokens: readonly number[]) => String.fromCodePoint(...tokens)
const lines: Shows = {
  name: 'lines',
  renderAssistant: (message) => letters(commandLine.write(message, tools)),
  parse: (tokens) => commandLine.read(textOf(tokens), tools),
}
/** As a template that knows no tools: what is said, and nothing else. */
const deaf: Shows = { ...lines, name: 'template', renderAssistant: ({ content }) => letters(` ${content}\n`) }

const asks: Message = { role: 'user', content: 'Which?' }
const calls = (query: string): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ id: 'c1', name: 'search', arguments: { query } }],
})
const shown = (...messages: Message[]) => ({ messages: [asks, ...messages], tools })

it('are none where calls read back as themselves, whatever their ids, nor where nothing is called', () => {
  expect(lostCalls([shown(calls('a')), shown(calls('two words'))], lines)).toEqual([])
  expect(lostCalls([shown({ role: 'assistant', content: 'Yes.' })], deaf)).toEqual([])
  expect(lostCalls([], deaf)).toEqual([])
})

it('stop a run whose model is shown no calls', () => {
  const [finding, ...more] = lostCalls([shown(calls('a')), shown({ role: 'assistant', content: 'Yes.' })], deaf)
  expect(more).toEqual([])
  expect(finding).toMatchObject({ severity: 'stop', code: 'learn/lost-calls', n: 1, of: 1 })
  expect(finding?.message).toMatch(/^1 of 1 demonstration calls a tool .* "template" loses/)
  expect(finding?.hint).toMatch(/"compact"/)
})

it('warn of a few', () => {
  const some: Shows = {
    ...lines,
    parse: (tokens) => lines.parse(letters(textOf(tokens).replace('odd', 'even')), tools),
  }
  const [finding] = lostCalls([shown(calls('odd')), shown(calls('a')), shown(calls('b'))], some)
  expect(finding).toMatchObject({ severity: 'warn', n: 1, of: 3 })
  expect(finding?.example).toMatch(/odd/)
})
