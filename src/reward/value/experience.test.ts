import { describe, expect, it } from 'vitest'
import { sampledSpan, scored, trajectoryOf } from '../../../test/support/trajectories.ts'
import { type AssistantMessage, type Embedder, type Message, NodeId, Task } from '../../core/index.ts'
import { experience, fittingFeatures, shownExperience } from './index.ts'

const user = (content: string): Message => ({ role: 'user', content })
const say = (content: string): AssistantMessage => ({ role: 'assistant', content })

describe('experience', () => {
  const steps = (...actions: string[]) =>
    actions.map((action, index) => ({ index, action: NodeId.parse(action), observations: [], decisions: [] }))
  const nodes = [
    { id: 'q', message: user('Book it.') },
    { id: 'a', parent: 'q', message: say('one'), spans: [sampledSpan([1, 2], -0.5)] },
    { id: 'r', parent: 'a', message: user('go on') },
    { id: 'b', parent: 'r', message: say('two') },
  ]

  it('is what was said, with what had been read and what it earned', () => {
    const trajectory = { ...trajectoryOf({ task: 'book', nodes }), steps: steps('a', 'b') }
    expect(experience({ trajectory, reward: scored(1) })).toEqual({
      subject: 'book',
      moves: [
        { read: [user('Book it.')], said: say('one'), logprob: -1, reward: 0 },
        { read: [user('Book it.'), say('one'), user('go on')], said: say('two'), logprob: null, reward: 1 },
      ],
    })
    const paid = {
      ...trajectory,
      steps: trajectory.steps.map((step, i) => ({ ...step, reward: i === 0 ? null : 0.25 })),
    }
    const rewards = (options?: Parameters<typeof experience>[1]) =>
      experience({ trajectory: paid, reward: scored(1) }, options)?.moves.map(({ reward }) => reward)
    expect(rewards()).toEqual([null, 1.25])
    expect(rewards({ stepRewards: 'ignored' })).toEqual([0, 1])
  })

  it('is none without a reward, without a word, and where nobody knows which branch it was', () => {
    const trajectory = { ...trajectoryOf({ nodes }), steps: steps('a', 'b') }
    expect(experience({ trajectory, reward: { status: 'missing', value: null, parts: {}, reason: '' } })).toBeNull()
    expect(experience({ trajectory: trajectoryOf({ nodes: [{ id: 'q' }] }), reward: scored(1) })).toBeNull()
    const forked = {
      ...trajectoryOf({ nodes: [...nodes, { id: 'c', parent: 'r', message: say('three') }] }),
      steps: steps('a', 'b', 'c'),
    }
    expect(experience({ trajectory: forked, reward: scored(1) })).toBeNull()
    const known = { ...forked, outcome: { inputs: [NodeId.parse('c')] } }
    expect(experience({ trajectory: known, reward: scored(1) })?.moves.map(({ said }) => said.content)).toEqual([
      'one',
      'three',
    ])
  })

  it('is a demonstration too', () => {
    const messages = [user('Book it.'), say('one'), user('go on'), say('two')]
    expect(shownExperience({ messages }, 1)).toMatchObject({
      subject: 'Book it.',
      moves: [{ reward: 0 }, { reward: 1 }],
    })
    const task = Task.parse({ id: 'book', instruction: 'Book it.', data: {}, split: 'train' })
    expect(shownExperience({ messages, task }, 1)?.subject).toBe('book')
    expect(shownExperience({ messages: [user('Book it.')] }, 1)).toBeNull()
  })
})

describe('features of how what is said fits', () => {
  const embedder: Embedder = {
    name: 'three',
    dimensions: 3,
    costly: false,
    embed: (texts) =>
      Promise.resolve(
        texts.map((text) => Float32Array.from(['plum', 'lime', 'red'].map((word) => Number(text.includes(word))))),
      ),
  }
  const call = (name: string, value: string): AssistantMessage => ({
    role: 'assistant',
    content: '',
    toolCalls: [{ name, arguments: { value } }],
  })

  it('are the likeness to what was asked and shown, for each sort of move', async () => {
    const opening = [user('colour of plum')]
    const read: Message[] = [...opening, call('open', 'plum'), { role: 'tool', name: 'open', content: 'red' }]
    const rows = await fittingFeatures(embedder).of([
      { read: opening, said: call('open', 'plum') },
      { read: opening, said: call('open', 'lime') },
      { read, said: call('answer', 'red') },
      { read, said: { ...say('x'), malformedCalls: [{ text: 'x', problem: '' }] } },
    ])
    const likeness = rows.map((row) =>
      [32, 64].map((from) => row.slice(from, from + 32).reduce((sum, one) => sum + one, 0)),
    )
    expect(likeness).toEqual([
      [1, 0],
      [0, 0],
      [0, 1],
      [0, 0],
    ])
    expect(rows.map((row) => row.slice(96))).toEqual([
      [0, 1, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, 0, 1],
      [1, 0, 0, 0, 0, 0, 0],
    ])
    // The first two are of one sort, the others of others.
    const sortOf = (i: number) => rows[i]?.indexOf(1)
    expect(sortOf(0)).toBe(sortOf(1))
    expect(new Set([0, 2, 3].map(sortOf)).size).toBe(3)
  })
})
