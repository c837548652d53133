import { describe, expect, it, vi } from 'vitest'
import type { Action, Message, ToolCall } from '../../core/index.ts'
import { Recorder, recording } from '../recorder.ts'
import { type BuiltIn, withBuiltIns } from './built-in.ts'

const call = (name: string, id?: string): ToolCall => ({ name, arguments: {}, ...(id === undefined ? {} : { id }) })
const calls = (...of: readonly ToolCall[]): Action => ({ kind: 'calls', calls: of })
const ours: BuiltIn = {
  definition: { name: 'ours', description: '', parameters: {} },
  answer: () => ({ content: 'ours' }),
}
const answered = (of: Action): readonly Message[] =>
  of.kind === 'calls' ? of.calls.map(({ name }) => ({ role: 'tool', name, content: `their ${name}` })) : []

/** What an episode with a tool `theirs` gives back, and what it was asked. */
async function step(action: Action, answer = answered) {
  const asked = vi.fn((of: Action) => ({ messages: answer(of), done: false }))
  const episode = withBuiltIns({ tools: [{ name: 'theirs', description: '', parameters: {} }], step: asked }, [ours])
  const { messages } = await recording(new Recorder(), async () => episode.step(action))
  return { said: messages.map(({ content }) => content), messages, asked: asked.mock.calls.map(([of]) => of) }
}

describe('tools that are served beside an episode’s', () => {
  it('are never asked of it; all else is, as it is', async () => {
    expect(await step(calls(call('ours')))).toMatchObject({ said: ['ours'], asked: [] })
    for (const action of [calls(call('theirs'), call('theirs')), { kind: 'message', content: 'hi' }] as const) {
      const { asked } = await step(action)
      expect(asked).toEqual([action])
      expect(asked[0]).toBe(action)
    }
  })

  it('are answered in the order of the calls, and to each call', async () => {
    const { said, asked, messages } = await step(
      calls(call('theirs'), call('ours', 'c1'), call('theirs'), call('ours')),
    )
    expect(said).toEqual(['their theirs', 'ours', 'their theirs', 'ours'])
    expect(asked).toEqual([calls(call('theirs'), call('theirs'))])
    expect(messages[1]).toEqual({ role: 'tool', name: 'ours', toolCallId: 'c1', content: 'ours' })
  })

  it('are answered first, where an episode does not give one result for each call', async () => {
    const talks = (): readonly Message[] => [{ role: 'user', content: 'wait' }]
    expect((await step(calls(call('theirs'), call('ours')), talks)).said).toEqual(['ours', 'wait'])
  })

  it('must not have a name that the episode uses', () => {
    const step = () => ({ messages: [], done: true })
    expect(() => withBuiltIns({ tools: [ours.definition], step }, [ours])).toThrow(
      expect.objectContaining({ code: 'agent/tool-name-taken' }),
    )
  })
})
