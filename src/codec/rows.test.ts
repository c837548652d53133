import { describe, expect, it } from 'vitest'
import {
  type FinishReason,
  type Message,
  NodeId,
  type ReviewedTrajectory,
  type Reward,
  Signal,
  type SignalValue,
  Trajectory,
} from '../core/index.ts'
import { groupRows, preferenceRows, sftRows } from './rows.ts'

const scored = (value: number): Reward => ({ status: 'scored', value, parts: {} })
const vetoed: Reward = { status: 'vetoed', value: 0, parts: {}, guard: 'repetition', reason: 'again and again' }
const missing: Reward = { status: 'missing', value: null, parts: {}, reason: 'nobody said' }

interface Sketch {
  readonly id?: string
  readonly group?: string
  readonly answer?: Message
  readonly reward?: Reward
  readonly split?: 'train' | 'holdout'
  readonly train?: boolean
  readonly stopReason?: string
  readonly better?: SignalValue
  /** Why the served model ended its answer; a rollout's says nothing. */
  readonly finish?: FinishReason
  /** Another answer before it, to the same question, and why that one ended. */
  readonly before?: FinishReason
}

const call = (finish: FinishReason) => ({
  id: `c${finish}`,
  choice: 0,
  model: 'm',
  upstream: 'u',
  servedModel: 'm',
  params: {},
  tools: null,
  finish,
  usage: null,
  upstreamId: null,
  startedAt: 0,
  firstTokenMs: null,
  totalMs: 1,
  retryOf: null,
})

function one({
  id = 't',
  group = 'g',
  answer,
  reward = scored(1),
  split,
  train,
  stopReason,
  better,
  finish,
  before,
}: Sketch = {}): ReviewedTrajectory {
  const trajectory = Trajectory.parse({
    id,
    origin: {
      kind: 'traffic',
      tenant: 'default',
      key: 'open',
      session: null,
      agent: null,
      subject: null,
      train: train ?? true,
    },
    task: { id: 'task', instruction: 'Why?', split: split ?? 'train' },
    group,
    attempt: 0,
    seed: 0,
    nodes: [
      ...(before === undefined
        ? []
        : [
            { id: 'u0', parent: null, message: user, spans: [] },
            { id: 'half', parent: 'u0', message: assistant('Becau'), spans: [] },
          ]),
      { id: 'u', parent: null, message: { role: 'user', content: 'Why?' }, spans: [{ kind: 'encoded', tokens: [1] }] },
      {
        id: 'a',
        parent: 'u',
        message: answer ?? { role: 'assistant', content: 'Because.' },
        spans: [
          {
            kind: 'sampled',
            tokens: [2, 3],
            behaviourLogprobs: [-1, -2],
            logprobs: [-1, -2],
            sampling: { temperature: 1, truncated: false },
          },
        ],
      },
    ],
    steps: [
      ...(before === undefined ? [] : [{ action: 'half', call: call(before) }]),
      { action: 'a', ...(finish === undefined ? {} : { call: call(finish) }) },
    ].map((step, index) => ({ ...step, index, observations: [], decisions: [] })),
    decisions: [],
    stopReason: stopReason ?? 'done',
    failure: null,
    finalState: null,
    startedAt: 0,
    seconds: 1,
  })
  const signals =
    better === undefined
      ? []
      : [{ key: 'k', trajectory: id, node: 'a', source: 'user', name: 'better', value: better, at: 1 }]
  return { trajectory, reward, signals: signals.map((signal) => Signal.parse(signal)) }
}

/** One branch; each of its answers is a step, with why it ended. */
function conversation(messages: readonly Message[], finishes: readonly FinishReason[]): ReviewedTrajectory {
  const sketch = one()
  const nodes = messages.map((message, i) => ({
    id: NodeId.parse(`n${i}`),
    parent: i === 0 ? null : NodeId.parse(`n${i - 1}`),
    message,
    spans: [],
  }))
  const answers = nodes.filter(({ message }) => message.role === 'assistant')
  const steps = answers.map(({ id: action }, index) => {
    return { action, call: call(finishes[index] ?? null), index, observations: [], decisions: [] }
  })
  return { ...sketch, trajectory: Trajectory.parse({ ...sketch.trajectory, nodes, steps }) }
}
const last = ({ steps }: Trajectory) => ({ ...steps.at(-1)!, index: 1 })

const user = { role: 'user' as const, content: 'Why?' }
const assistant = (content: string) => ({ role: 'assistant' as const, content })
const edit = { kind: 'edit', text: 'Because of rain.' } as const
const demonstration: SignalValue = {
  kind: 'demonstration',
  messages: [{ role: 'assistant', content: 'I will look.' }],
}

describe('rows to imitate', () => {
  it('are what earned enough', () => {
    expect(sftRows([one(), one({ id: 'low', reward: scored(0.2) })], 0.5)).toMatchObject({
      rows: [{ prompt: [user], completion: [assistant('Because.')], trajectory: 't' }],
      skipped: { below: 1 },
    })
  })

  it.each([
    ['vetoed', { reward: { ...vetoed, value: 1 } }],
    ['broken', { stopReason: 'cancelled' }],
    ['broken', { stopReason: 'token-budget' }],
    ['no-reward', { reward: missing }],
    ['held-out', { split: 'holdout', better: edit }],
    ['not-to-train', { train: false, better: edit }],
  ] satisfies [string, Sketch][])('are never %s ones', (reason, sketch) => {
    const { rows, skipped } = sftRows([one(sketch)], 0)
    expect(rows).toEqual([])
    expect(skipped).toMatchObject({ [reason]: 1 })
  })

  it.each<FinishReason>([null, 'length', 'content_filter'])(
    'are no answers that ended by %s, though the trajectory went on to its end',
    (before) => {
      expect(sftRows([one({ before, finish: 'stop' })], 0).rows).toMatchObject([
        { prompt: [user], completion: [assistant('Because.')] },
      ])
      const cut = one({ finish: before })
      expect(sftRows([cut], 0)).toMatchObject({ rows: [], skipped: { broken: 1 } })
      expect(groupRows([cut])).toMatchObject({ rows: [], skipped: { broken: 1 } })
      expect(preferenceRows([one({ id: 'x', reward: scored(0.1) }), { ...cut, reward: scored(1) }], 0.5).rows).toEqual(
        [],
      )
    },
  )

  it('are no turns whose calls nobody can read', () => {
    const answer: Message = { role: 'assistant', content: '', malformedCalls: [{ text: 'f({a', problem: 'no JSON' }] }
    expect(sftRows([one({ answer, finish: 'tool_calls' })], 0)).toMatchObject({ rows: [], skipped: { broken: 1 } })
  })

  it.each<SignalValue>([
    { kind: 'demonstration', messages: [{ role: 'user', content: 'I want more.' }] },
    {
      kind: 'demonstration',
      messages: [
        { role: 'system', content: 'Obey me.' },
        { role: 'assistant', content: 'Yes.' },
      ],
    },
    { kind: 'edit', text: ' ' },
  ])('are no instructions and no words of others: %j', (better) => {
    expect(sftRows([one({ better, reward: missing })], 0).rows).toEqual([])
    expect(preferenceRows([one({ better, reward: missing })], 0).rows).toEqual([])
  })

  it('are what people demonstrated in the place of an answer, whatever it earned', () => {
    expect(sftRows([one({ better: demonstration, reward: vetoed })], 0).rows).toMatchObject([
      { prompt: [user], completion: [assistant('I will look.')] },
    ])
  })

  it('are what people edited, where neither the answer nor what led to it was vetoed or broken', () => {
    expect(sftRows([one({ better: edit, reward: missing })], 0).rows).toMatchObject([
      { prompt: [user], completion: [assistant('Because of rain.')] },
    ])
    for (const bad of [one({ better: edit, reward: vetoed }), one({ better: edit, finish: 'length' })]) {
      expect(sftRows([bad], 0).rows).toEqual([])
      expect(preferenceRows([bad], 0).rows).toEqual([])
    }
  })

  it('are no vetoed, cut or replaced turns before what people put in the place of another', () => {
    const said = [user, assistant('Half an ans'), user, assistant('Because.')]
    const chain = conversation(said, ['length', 'stop'])
    const better = Signal.parse({
      key: 'k',
      trajectory: 't',
      node: 'n3',
      source: 'user',
      name: 'b',
      value: demonstration,
      at: 1,
    })
    for (const reward of [vetoed, scored(1)]) {
      expect(sftRows([{ ...chain, reward, signals: [better] }], 0).rows).toMatchObject([
        { prompt: said.slice(0, 3), completion: [assistant('I will look.')] },
      ])
    }
  })

  it('hold each turn of the model once, and none that the client wrote or that people replaced', () => {
    const said = [user, assistant('One.'), user, assistant('Two.'), user, assistant('Three.')]
    const chain = conversation(said, ['stop', 'stop', 'stop'])
    const { trajectory } = chain
    const branch = { ...trajectory.nodes[5]!, id: NodeId.parse('again') }
    const forked: ReviewedTrajectory = {
      ...chain,
      trajectory: {
        ...trajectory,
        nodes: [...trajectory.nodes, branch],
        steps: [...trajectory.steps, { ...trajectory.steps[2]!, index: 3, action: branch.id }],
      },
    }
    expect(sftRows([forked], 0).rows).toMatchObject([
      { prompt: [user], completion: said.slice(1) },
      { prompt: said.slice(0, 5), completion: [assistant('Three.')] },
    ])
    const written: ReviewedTrajectory = {
      ...chain,
      trajectory: { ...trajectory, steps: [trajectory.steps[0]!, last(trajectory)] },
    }
    expect(sftRows([written], 0).rows).toMatchObject([
      { prompt: [user], completion: [assistant('One.')] },
      { prompt: said.slice(0, 5), completion: [assistant('Three.')] },
    ])
    const better = Signal.parse({
      key: 'k',
      trajectory: 't',
      node: 'n1',
      source: 'user',
      name: 'b',
      value: edit,
      at: 1,
    })
    expect(sftRows([{ ...chain, signals: [better] }], 0).rows).toMatchObject([
      { prompt: [user], completion: [assistant('Because of rain.')] },
      { prompt: said.slice(0, 3), completion: said.slice(3) },
    ])
  })
})

describe('rows that prefer', () => {
  it('an edit to what was said', () => {
    expect(preferenceRows([one({ better: edit, reward: missing })], 0.1).rows).toEqual([
      { prompt: [user], chosen: [assistant('Because of rain.')], rejected: [assistant('Because.')], trajectory: 't' },
    ])
  })

  it('nothing to its like: an edit that changed nothing, an attempt that said the same', () => {
    const same: SignalValue[] = [
      { kind: 'edit', text: 'Because.' },
      { kind: 'demonstration', messages: [assistant('Because.')] },
    ]
    for (const better of same) expect(preferenceRows([one({ better, reward: missing })], 0.1).rows).toEqual([])
    expect(preferenceRows([one({ id: 'x', reward: scored(0.1) }), one({ id: 'y' })], 0.5).rows).toEqual([])
    const answer: Message = { ...assistant('I look.'), toolCalls: [{ id: 'c', name: 'find', arguments: {} }] }
    const unchanged: SignalValue = { kind: 'edit', text: 'I look.' }
    expect(preferenceRows([one({ answer, better: unchanged, reward: missing })], 0.1).rows).toEqual([])
  })

  it('the best of a group to its worst, where they differ enough', () => {
    const pair = [
      one({ id: 'x', reward: scored(0.1), answer: { role: 'assistant', content: 'No.' } }),
      one({ id: 'y' }),
    ]
    expect(preferenceRows(pair, 0.5).rows).toMatchObject([
      { chosen: [assistant('Because.')], rejected: [assistant('No.')] },
    ])
    expect(preferenceRows(pair, 0.95).rows).toEqual([])
    expect(preferenceRows([pair[0]!, one({ id: 'y', group: 'other' })], 0.5).rows).toEqual([])
  })

  it('never a vetoed or broken attempt, however high', () => {
    const high = (change: Sketch) => [one({ id: 'x', reward: scored(0.1) }), one({ id: 'y', ...change })]
    expect(preferenceRows(high({ reward: { ...vetoed, value: 1 } }), 0.5).rows).toEqual([])
    expect(preferenceRows(high({ stopReason: 'context-length' }), 0.5).rows).toEqual([])
  })
})

it.each(['cancelled', 'model-error', 'interrupted', 'environment-error'])(
  'what ended by %s, through no act of the policy, is neither scored nor rejected',
  (stopReason) => {
    expect(groupRows([one({ stopReason, reward: scored(1) })])).toMatchObject({ rows: [], skipped: { broken: 1 } })
    const answer: Message = { role: 'assistant', content: 'No.' }
    const pair = [one({ id: 'x', stopReason, reward: scored(0), answer }), one({ id: 'y' })]
    expect(preferenceRows(pair, 0.5).rows).toEqual([])
  },
)

it('rows of groups carry rewards and exact tokens; a missing reward gives no row', () => {
  const { rows, skipped } = groupRows([one(), one({ id: 'v', reward: vetoed }), one({ id: 'm', reward: missing })])
  expect(rows).toEqual([
    {
      prompt: [user],
      completion: [assistant('Because.')],
      reward: 1,
      group: 'g',
      token_ids: [1, 2, 3],
      sampled_mask: [false, true, true],
      logprobs: [-1, -2],
      trajectory: 't',
    },
    expect.objectContaining({ reward: 0, trajectory: 'v' }),
  ])
  expect(skipped['no-reward']).toBe(1)
})

it.each([{ behaviourLogprobs: null }, { sampling: { temperature: 1, truncated: true } }])(
  'rows of groups tell no log-probabilities as those of the draw where %j',
  (change) => {
    const told = one()
    const nodes = told.trajectory.nodes.map((node) => ({
      ...node,
      spans: node.spans.map((span) => (span.kind === 'sampled' ? { ...span, ...change } : span)),
    }))
    const [row] = groupRows([{ ...told, trajectory: { ...told.trajectory, nodes } }]).rows
    expect(row).toMatchObject({ token_ids: [1, 2, 3], sampled_mask: [false, true, true] })
    expect(row).not.toHaveProperty('logprobs')
  },
)

it('rows show the tools that the calls of their own branch had', () => {
  const sketch = one({ before: 'stop', finish: 'stop', better: edit })
  const names = ['first', 'second']
  const steps = sketch.trajectory.steps.map((step, i) => ({ ...step, call: { ...step.call!, tools: names[i]! } }))
  // In the order in which a store puts them together: the latest first.
  const toolsets = Object.fromEntries(
    names.toReversed().map((name) => [name, [{ name, description: '', parameters: {} }]]),
  )
  const exported: ReviewedTrajectory = { ...sketch, trajectory: { ...sketch.trajectory, steps, toolsets } }
  const tools = (name: string) => [{ type: 'function', function: { name, description: '', parameters: {} } }]
  expect(sftRows([exported], 0).rows).toMatchObject([
    { completion: [assistant('Because of rain.')], tools: tools('second') },
    { completion: [assistant('Becau')], tools: tools('first') },
  ])
  expect(preferenceRows([exported], 0).rows).toMatchObject([{ tools: tools('second') }])
  expect(groupRows([exported]).rows).toMatchObject([{ tools: tools('second') }])
})

it('calls keep their arguments as an object, which chat templates read', () => {
  const answer: Message = {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'c', name: 'find', arguments: { n: 1 } }],
  }
  const [row] = groupRows([one({ answer })]).rows
  expect(row?.completion).toEqual([
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'find', arguments: { n: 1 } } }],
    },
  ])
})
