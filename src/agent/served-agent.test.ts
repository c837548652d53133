import { expect, it } from 'vitest'
import { scriptedModel } from '../../test/support/scripted-model.ts'
import { continued, demonstration, servedAgent, text, weights } from './index.ts'

it('has Parameters and no program', async () => {
  const agent = servedAgent({
    name: 'support',
    parameters: { model: weights({ base: 'words' }), system: text('Help.') },
  })
  expect(Object.keys(agent.parameters)).toEqual(['model', 'system'])
  expect(() => agent.run({} as never, {} as never, {} as never)).toThrow(
    expect.objectContaining({ code: 'agent/served-only' }),
  )
  expect(() => servedAgent({ name: 'any name', parameters: { 'no name': text('') } })).toThrow(
    expect.objectContaining({ code: 'agent/bad-name' }),
  )
})

it('a continuation keeps its context as it was read, and learns what the assistant says', () => {
  const { renderer } = scriptedModel(() => [])
  const context = [7, 8, 9]
  const end = [0]
  const answer = { role: 'assistant', content: 'Blue' } as const
  const once = continued(context, [answer], [], renderer)
  const said = renderer.renderAssistant(answer, [])
  expect(said.at(-1)).toBe(end[0])
  expect(once.tokens).toEqual([7, 8, 9, ...said])
  expect(once.learn).toEqual([false, false, false, ...said.map(() => true)])

  const tool = { role: 'tool', name: 'look', content: 'red' } as const
  const twice = continued(context, [answer, tool, answer, tool], [], renderer)
  const shown = renderer.extend([tool], true)
  expect(twice.tokens).toEqual([7, 8, 9, ...said, ...shown, ...said])
  expect(twice.learn.slice(3)).toEqual([...said.map(() => true), ...shown.map(() => false), ...said.map(() => true)])

  const user = { role: 'user', content: 'Which colour?' } as const
  expect(demonstration([user, answer], [], renderer)).toEqual(
    continued(renderer.start([user], []), [answer], [], renderer),
  )
  for (const turns of [[], [user, answer]]) {
    expect(() => continued(context, turns, [], renderer)).toThrow(
      expect.objectContaining({ code: 'agent/empty-demonstration' }),
    )
  }
})
