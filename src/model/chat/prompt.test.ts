import { describe, expect, it } from 'vitest'
import { byteLevelTokenizer } from '../../../test/tiny/tokenizer.ts'
import { scriptedRenderer as renderer } from '../../../test/support/scripted-service.ts'
import type { AssistantMessage, ChatHistory, Message, ToolDefinition } from '../../core/index.ts'
import { readTokenizer } from '../embedded/load/tokenizer.ts'
import { CompactRenderer } from '../renderer/index.ts'
import { promptTokens } from './prompt.ts'

const limits = { contextLength: 4_096, upstream: 'embedded' }
const user = (content: string): Message => ({ role: 'user', content })
const said = (content: string): AssistantMessage => ({ role: 'assistant', content })
const tool = (name: string): ToolDefinition => ({ name, description: '', parameters: { type: 'object' } })
const search = [tool('search')]

const prompt = (
  messages: readonly Message[],
  history: ChatHistory | null,
  { tools = [], mayCall = tools.length > 0 }: { tools?: readonly ToolDefinition[]; mayCall?: boolean } = {},
) => promptTokens(renderer, { messages, tools, mayCall, history }, limits)

/** A conversation of which the policy sampled the answer in its own way: no renderer would write it so. */
const opening = [user('one')]
const sampled = [...renderer.renderAssistant(said(' hel lo'), []).slice(0, -1), 0, 2]
const conversation = [...opening, said('hello')]
const history = (tools: readonly ToolDefinition[] = [], tokens = sampled): ChatHistory => ({
  messages: 2,
  tokens: [...renderer.start(opening, tools), ...tokens],
  closedTurn: true,
})

describe('the prompt', () => {
  it('of a conversation that was served goes on from its exact tokens', () => {
    const next = [user('two')]
    expect(prompt([...conversation, ...next], history())).toEqual([...history().tokens, ...renderer.extend(next, true)])
    const result: Message = { role: 'tool', name: 'search', content: 'found' }
    expect(prompt([...conversation, result, result], history(search), { tools: search })).toEqual([
      ...history(search).tokens,
      ...renderer.extend([result, result], true),
    ])
  })

  it('closes the turn that the policy did not close, whatever the history says of it', () => {
    const cut = { ...history([], sampled.slice(0, -1)), closedTurn: true }
    const next = [user('two')]
    expect(prompt([...conversation, ...next], cut)).toEqual([...cut.tokens, ...renderer.extend(next, false)])
  })

  it('goes on where the policy speaks again at once', () => {
    expect(prompt(conversation, history())).toEqual([...history().tokens, ...renderer.extend([], true)])
  })

  it.each<[string, readonly Message[], ChatHistory, { tools?: readonly ToolDefinition[] }]>([
    ['other tools are given', [...conversation, user('two')], history(), { tools: search }],
    ['tools are given no more', [...conversation, user('two')], history(search), {}],
    ['other messages come first', [user('other'), said('hello'), user('two')], history(), {}],
    ['the assistant said more', [...conversation, user('two'), said('three'), user('four')], history(), {}],
    ['the history ends with no turn of the assistant', [user('one'), user('two'), user('three')], history(), {}],
    ['the history is longer than the messages', [user('one')], history(), {}],
    ['the history is of another model', [...conversation, user('two')], { ...history(), tokens: [7, 7, 7, 2] }, {}],
  ])('is written anew where %s', (_, messages, known, options) => {
    expect(prompt(messages, known, options)).toEqual(renderer.start(messages, options.tools ?? []))
  })

  it('shows no tools that must not be called, but goes on where they were shown', () => {
    const messages = [...conversation, user('two')]
    const silent = { tools: search, mayCall: false }
    expect(prompt(messages, null, silent)).toEqual(renderer.start(messages, []))
    for (const known of [history(search), history([])])
      expect(prompt(messages, known, silent).slice(0, known.tokens.length)).toEqual(known.tokens)
  })

  it('begins with turns that the policy never sampled, where the conversation does', () => {
    const examples = [user('a'), said('b'), user('c')]
    const tokens = [...renderer.start(examples, []), ...sampled]
    const known = { messages: 4, tokens, closedTurn: true }
    expect(prompt([...examples, said('hello'), user('two')], known).slice(0, tokens.length)).toEqual(tokens)
  })

  it('refuses what fills the context, continued or not', () => {
    const long = [...conversation, user('a '.repeat(3_000))]
    for (const known of [null, history()])
      expect(() => prompt(long, known)).toThrow(/maximum context length is 4096 tokens/)
  })

  it('refuses messages that the renderer cannot show, unless it need not show them', () => {
    const compact = new CompactRenderer(readTokenizer(byteLevelTokenizer([]).json))
    const messages = [user('one'), said('two\nlines'), user('three')]
    const show = (known: ChatHistory | null) =>
      promptTokens(compact, { messages, tools: [], mayCall: false, history: known }, limits)
    expect(() => show(null)).toThrow(
      expect.objectContaining({ kind: 'refused', status: 400, message: expect.stringContaining('several lines') }),
    )
    const tokens = [...compact.start([user('one')], []), 70, 71]
    expect(show({ messages: 2, tokens, closedTurn: false })).toEqual([
      ...tokens,
      ...compact.extend([user('three')], false),
    ])
  })
})
