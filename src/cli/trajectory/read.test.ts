import { expect, it } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import { NodeId } from '../../core/index.ts'
import { readText } from './read.ts'

const sampled = {
  kind: 'sampled' as const,
  tokens: [7],
  behaviourLogprobs: [0],
  logprobs: [0],
  sampling: { temperature: 1, truncated: false },
}
const trajectory = {
  ...trajectoryOf({
    nodes: [
      { id: 'q', message: { role: 'user', content: 'which "one"?' }, spans: [{ kind: 'encoded', tokens: [1, 2] }] },
      { id: 'a', parent: 'q', message: { role: 'assistant', content: 'this' }, spans: [sampled] },
      { id: 'r', parent: 'a', message: { role: 'tool', name: 'look', content: 'in\nfull' } },
      // The folded view of what came before: a branch of its own.
      {
        id: 'a2',
        parent: 'q',
        message: { role: 'assistant', content: 'this' },
        spans: [{ kind: 'encoded', tokens: [7] }],
      },
      { id: 'r2', parent: 'a2', message: { role: 'tool', name: 'look', content: '[left out]' }, spans: [] },
      {
        id: 'b',
        parent: 'r2',
        message: { role: 'assistant', content: 'so' },
        spans: [{ kind: 'encoded', tokens: [8] }, sampled],
      },
    ],
  }),
  steps: ['a', 'b'].map((action, index) => ({ index, action: NodeId.parse(action), observations: [], decisions: [] })),
}

it('tells what a call read, message by message, and token by token', () => {
  expect(readText(trajectory, 1, {})).toBe('{"role":"user","content":"which \\"one\\"?"}\n')
  const second = JSON.parse(readText(trajectory, 2, { json: true }))
  expect(second.messages.map(({ content }: { readonly content: string }) => content)).toEqual([
    'which "one"?',
    'this',
    '[left out]',
  ])
  expect(second.tokens).toEqual([1, 2, 7, 8])
})

it('says how many calls there are', () => {
  for (const call of [0, 3])
    expect(() => readText(trajectory, call, {})).toThrow(expect.objectContaining({ code: 'input/no-such-call' }))
})
