import { describe, expect, it } from 'vitest'
import { scored, trajectoryOf, vetoed } from '../../../test/support/trajectories.ts'
import { type Message, NodeId, type Reward, rng } from '../../core/index.ts'
import { chainOfAgents } from './chain-of-agents.ts'
import { raft, type RaftOptions } from './raft.ts'

describe('RAFT', () => {
  const documents = Array.from({ length: 10 }, (_, i) => ({ title: `d${i}`, text: `text ${i}` }))
  const questions = Array.from({ length: 400 }, (_, i) => ({
    question: `question ${i}?`,
    oracles: documents.slice(i % 10, (i % 10) + 1),
    answer: `answer ${i}`,
  }))
  const told = (options: Partial<RaftOptions> = {}) =>
    raft(questions, { documents, rng: rng('a'), ...options }).map(({ messages }) =>
      messages.map(({ content }) => content),
    )
  const titlesIn = (read = '') => [...read.matchAll(/\[(d\d+)\]/g)].map(([, title]) => title ?? '')

  it('puts distractors beside each oracle, in an order that says nothing, and the question last', () => {
    const places = new Map<number, number>()
    for (const [i, [read = '', answer]] of told({ oracleShare: 1 }).entries()) {
      const titles = titlesIn(read)
      expect(titles).toHaveLength(5)
      expect(new Set(titles).size).toBe(5)
      const place = titles.indexOf(`d${i % 10}`)
      places.set(place, (places.get(place) ?? 0) + 1)
      expect(read.endsWith(`\n\nquestion ${i}?`)).toBe(true)
      expect(read).toContain(`[d${i % 10}]\ntext ${i % 10}\n`)
      expect(answer).toBe(`answer ${i}`)
    }
    // 80 at each of five places; a place has fewer than 50 or more than 110 once in ten thousand draws.
    for (let place = 0; place < 5; place++) {
      expect(places.get(place)).toBeGreaterThan(50)
      expect(places.get(place)).toBeLessThan(110)
    }
  })

  it('leaves the oracle out of the stated part, and nothing takes its place', () => {
    const without = told().filter(([read], i) => !titlesIn(read).includes(`d${i % 10}`))
    // A fifth of 400, within four standard deviations.
    expect(Math.abs(without.length - 80)).toBeLessThan(32)
    for (const [read] of without) expect(titlesIn(read)).toHaveLength(4)
    expect(told({ oracleShare: 0 }).every(([read], i) => !titlesIn(read).includes(`d${i % 10}`))).toBe(true)
  })

  it('is decided by its generator, and laid out as it is said', () => {
    expect(told()).toEqual(told())
    expect(told()).not.toEqual(told({ rng: rng('b') }))
    const layout = (question: string, read: readonly { readonly title: string }[]) => `${question} ${read.length}`
    expect(told({ layout, distractors: 2, oracleShare: 1 })[0]?.[0]).toBe('question 0? 3')
  })

  it.each([
    [{ distractors: 10 }, 'has 9 documents, and is to have 10'],
    [{ distractors: -1 }, 'distractors is -1'],
    [{ oracleShare: 1.1 }, 'oracleShare is 1.1'],
  ])('refuses %j', (options, message) => {
    expect(() => told(options)).toThrow(message)
  })
})

describe('a chain of agents', () => {
  const tool: Message = { role: 'tool', name: 'search', content: 'found' }
  /** A planner, an actor that searches and answers, and a critic, each with its own conversation. */
  function episode(reward: Reward, change: Partial<Message> = {}) {
    const said: readonly (readonly [string, string | undefined, Message])[] = [
      ['p0', undefined, { role: 'user', content: 'Plan it.' }],
      ['p1', 'p0', { role: 'assistant', content: 'Search first.' }],
      ['a0', undefined, { role: 'user', content: 'The planner says: Search first.' }],
      ['a1', 'a0', { role: 'assistant', content: '', toolCalls: [{ name: 'search', arguments: {} }] }],
      ['a2', 'a1', tool],
      ['a3', 'a2', { role: 'assistant', content: 'It is 4.', ...change } as Message],
      ['c0', undefined, { role: 'user', content: 'Is it 4?' }],
      ['c1', 'c0', { role: 'assistant', content: 'Yes.' }],
    ]
    const acts = [
      ['p1', 'planner'],
      ['a1', 'actor'],
      ['a3', 'actor'],
      ['c1', 'critic'],
    ] as const
    const trajectory = trajectoryOf({
      nodes: said.map(([id, parent, message]) => ({ id, message, ...(parent !== undefined && { parent }) })),
      decisions: acts.map(([output, parameter]) => ({ output, parameter })),
    })
    const steps = acts.map(([action], index) => ({
      index,
      action: NodeId.parse(action),
      observations: action === 'a1' ? [NodeId.parse('a2')] : [],
      decisions: [],
    }))
    return { trajectory: { ...trajectory, steps }, reward }
  }

  it('is told as one conversation of one agent that plays all parts', () => {
    expect(chainOfAgents([episode(scored(1))], { ceiling: 1 })).toEqual([
      {
        messages: [
          { role: 'user', content: 'Do it.' },
          {
            role: 'assistant',
            content: '<planner>Search first.</planner>',
            toolCalls: [{ name: 'search', arguments: {} }],
          },
          tool,
          { role: 'assistant', content: '<actor>It is 4.</actor>\n<critic>Yes.</critic>' },
        ],
      },
    ])
  })

  it('calls the parts as it is said', () => {
    const roleOf = () => 'think'
    const [told] = chainOfAgents([episode(scored(1))], { ceiling: 1, roleOf })
    expect(told?.messages.at(-1)?.content).toBe('<think>It is 4.</think>\n<think>Yes.</think>')
  })

  it('tells no failure, nothing vetoed, and no call that could not be read', () => {
    const unread = { malformedCalls: [{ text: '!x', problem: 'no such call' }] } as Partial<Message>
    const told = chainOfAgents([episode(scored(0.9)), episode(vetoed(1)), episode(scored(1), unread)], { ceiling: 1 })
    expect(told).toEqual([])
  })
})
