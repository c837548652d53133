import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type Message, type Reward, Signal, Trajectory } from '../../core/index.ts'
import { said } from './said.ts'
import { trajectoryTree } from './tree.ts'

const call = (id: string, finish: 'stop' | 'tool_calls' | null = 'stop') => ({
  id,
  choice: 0,
  model: 'gpt',
  upstream: 'openai',
  servedModel: 'gpt-1',
  params: {},
  tools: null,
  finish,
  usage: { promptTokens: 12, completionTokens: 3, cachedTokens: null },
  upstreamId: null,
  startedAt: 1_000,
  firstTokenMs: 200,
  totalMs: 1_500,
  retryOf: null,
})

function traffic(
  nodes: readonly { id: string; parent: string | null; message: Message; call?: object; spans?: object[] }[],
) {
  return Trajectory.parse({
    id: 't_1',
    origin: {
      kind: 'traffic',
      tenant: 'acme',
      key: 'open',
      session: 'order-42',
      agent: null,
      subject: null,
      train: true,
    },
    task: { id: 'traffic:t_1', instruction: 'x', split: 'train' },
    group: 't_1',
    attempt: 0,
    seed: 0,
    nodes: nodes.map(({ id, parent, message, spans }) => ({ id, parent, message, spans: spans ?? [], at: 1_000 })),
    steps: nodes
      .filter((node) => node.call)
      .map((node, index) => ({ index, action: node.id, observations: [], decisions: [], call: node.call })),
    decisions: [],
    stopReason: 'done',
    failure: null,
    finalState: null,
    startedAt: 1_000,
    seconds: 2,
  })
}

const missing: Reward = { status: 'missing', value: null, parts: {}, reason: 'not scored yet' }
const shown = (trajectory: Trajectory, signals: readonly Signal[] = [], tokens = false) =>
  stripVTControlCharacters(
    trajectoryTree({ trajectory, earned: { reward: missing, asOf: null, because: null } }, signals, {
      tokens,
      verbose: true,
      width: 200,
      now: 61_000,
    }),
  ).split('\n')

const question: Message = { role: 'user', content: 'How do I\ncancel?' }

describe('a trajectory in the terminal', () => {
  const sampled = {
    kind: 'sampled',
    tokens: [7, 9],
    behaviourLogprobs: [-0.5, -1],
    logprobs: [-0.5, -1.5],
    sampling: { temperature: 1, truncated: false },
  }
  const linear = traffic([
    { id: 'q', parent: null, message: question },
    { id: 'a', parent: 'q', message: { role: 'assistant', content: 'Press it.' }, call: call('c1'), spans: [sampled] },
    { id: 'u', parent: 'a', message: { role: 'user', content: 'Thanks' } },
  ])

  it('runs down the page, with how each turn was made', () => {
    expect(shown(linear)).toEqual([
      'trajectory t_1  session order-42 · tenant acme',
      'began 60 s ago, took 2.0 s · 3 messages · 1 call of gpt-1 · 12 tokens in, 3 out · split train · ended: done',
      '',
      'user  How do I ⏎ cancel?',
      'assistant  Press it.',
      '  gpt-1 via openai · ended by stop · 12 tokens in, 3 out · 1.5 s, first token after 0.2 s',
      '  2 tokens sampled, mean log-probability -1.000, temperature 1',
      'user  Thanks',
      '',
      'reward missing: not scored yet',
      '',
    ])
  })

  it('shows every token when asked', () => {
    expect(shown(linear, [], true)).toContain('  7:-0.50 9:-1.50')
  })

  it('puts signals under what they are about', () => {
    const signal = (node: string | null, name: string) =>
      Signal.parse({
        key: name,
        trajectory: 't_1',
        node,
        source: 'user',
        name,
        value: false,
        at: 3_601_000,
        reporter: 'open',
      })
    const lines = shown(linear, [signal('a', 'thumbs'), signal(null, 'solved'), signal('gone', 'stray')])
    expect(lines[lines.indexOf('user  Thanks') - 1]).toBe('  ↳ thumbs = false  user, by open, 60 min in')
    expect(lines).toContain('↳ solved = false  user, by open, 60 min in')
    expect(lines).toContain('↳ stray = false  user, by open, 60 min in')
  })

  it('indents branches where they part, and only there', () => {
    const forked = traffic([
      { id: 'q', parent: null, message: question },
      { id: 'a', parent: 'q', message: { role: 'assistant', content: 'one' }, call: call('c1') },
      { id: 'u', parent: 'a', message: { role: 'user', content: 'more' } },
      { id: 'b', parent: 'q', message: { role: 'assistant', content: 'two' }, call: call('c2', null) },
    ])
    const lines = shown(forked).filter((line) => !line.includes(' via '))
    expect(lines.slice(3, 7)).toEqual([
      'user  How do I ⏎ cancel?',
      '├─ assistant  one',
      '│  user  more',
      '└─ assistant  two',
    ])
  })

  it('says of a failed twin that it does not count, and why', () => {
    const cut = { ...call('c1', null), cancelled: true, usage: null }
    const twins = traffic([
      { id: 'q', parent: null, message: question },
      { id: 'a', parent: 'q', message: { role: 'assistant', content: 'Pre' }, call: cut },
      {
        id: 'b',
        parent: 'q',
        message: { role: 'assistant', content: 'Press it.' },
        call: { ...call('c2'), retryOf: 'c1' },
      },
    ])
    const lines = shown(twins)
    const failed = lines.slice(4, 7).join('\n')
    expect(failed).toContain('cut off: the client left')
    expect(failed).toContain('does not count: the client sent this request again')
    expect(lines.slice(7).join('\n')).not.toContain('does not count')
  })

  it('says which demonstration is not imitated, as it calls a tool that was not offered', () => {
    const one = traffic([
      { id: 'q', parent: null, message: question },
      { id: 'a', parent: 'q', message: { role: 'assistant', content: 'It is there.' }, call: call('c1') },
    ])
    const value = {
      kind: 'demonstration',
      messages: [{ role: 'assistant', content: '', toolCalls: [{ name: 'find', arguments: {} }] }],
    }
    const told = Signal.parse({
      key: 'k',
      trajectory: 't_1',
      node: 'a',
      source: 'user',
      name: 'better',
      value,
      at: 1_000,
    })
    expect(shown(one, [told])).toContain('  not imitated: find was not offered here')
  })

  it('keeps ids to itself until they are asked for, and tells the arm', () => {
    const inCanary = {
      ...linear,
      origin: {
        ...linear.origin,
        servedBy: { release: 'r1', canary: { id: 'c1', arm: 'candidate', propensity: 0.5 } },
      },
    } as Trajectory
    const head = (verbose: boolean) => {
      const options = { tokens: false, verbose, width: 200, now: 61_000 }
      const earned = { reward: missing, asOf: null, because: null }
      return stripVTControlCharacters(trajectoryTree({ trajectory: inCanary, earned }, [], options)).split('\n')
    }
    expect(head(false)[0]).toBe('trajectory t_1  session order-42 · tenant acme · candidate arm of a canary')
    expect(head(false)[1]).not.toContain('split')
    expect(head(true)[0]).toContain('candidate arm of a canary (c1)')
  })

  it('calls a guess a guess', () => {
    const guess = Signal.parse({
      key: 'k',
      trajectory: 't_1',
      node: 'a',
      source: 'outcome',
      reporter: 'implicit',
      name: 'tool-error',
      value: -0.5,
      at: 2_000,
    })
    expect(shown(linear, [guess])).toContain('  ↳ tool-error = -0.5  a guess from behaviour, 1.0 s in')
  })

  it('is drawn for thousands of turns', () => {
    const long = traffic(
      Array.from({ length: 5_000 }, (_, i) => ({
        id: `n${i}`,
        parent: i === 0 ? null : `n${i - 1}`,
        message: question,
      })),
    )
    expect(shown(long).filter((line) => line.startsWith('user'))).toHaveLength(5_000)
  })
})

it('shows nothing of a reward that could steer the terminal', () => {
  const hostile = '\u001b]0;pwned\u0007\u202e\nforged'
  const { trajectory, ...options } = {
    verbose: true,
    trajectory: traffic([{ id: 'q', parent: null, message: question }]),
    tokens: false,
    width: 200,
    now: 61_000,
  }
  const parts = { [hostile]: 1 }
  for (const reward of [
    { status: 'scored', value: 1, parts },
    { status: 'vetoed', value: 0, parts, guard: hostile, reason: hostile },
    { status: 'missing', value: null, parts, reason: hostile },
  ] satisfies Reward[]) {
    const line = stripVTControlCharacters(
      trajectoryTree({ trajectory, earned: { reward, asOf: null, because: null } }, [], options),
    )
      .trimEnd()
      .split('\n')
      .at(-1)
    expect(line).toMatch(/^reward .*forged/)
    for (const steering of ['\u0007', '\u202e', '\u001b]']) {
      expect(trajectoryTree({ trajectory, earned: { reward, asOf: null, because: null } }, [], options)).not.toContain(
        steering,
      )
    }
  }
})

it('shows text from outside on one line, cut, with nothing that could steer the terminal', () => {
  expect(said('a\nb\u001b[2Jc', 20)).toBe('a ⏎ b�[2Jc')
  expect(said('x'.repeat(50), 10)).toBe(`${'x'.repeat(10)}…`)
  expect(said('👩‍🚀'.repeat(3), 2)).toBe('👩‍🚀👩‍🚀…')
  expect(said('x'.repeat(10_000_000), 5)).toBe('xxxxx…')
  expect(said('a\u202eb\u2066c\u2028d', 20)).toBe('a�b�c�d')
  expect(said('x '.repeat(20), 10)).toBe('x x x x x…')
})
