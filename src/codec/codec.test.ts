import { readFileSync } from 'node:fs'
import { branches, type ReviewedTrajectory, type Reward, Signal, Trajectory } from '../core/index.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toAtif } from './atif.ts'
import { fromAtif } from './atif-import.ts'
import { AtifTrajectory } from './atif-schema.ts'
import { fromVerifiers } from './verifiers-import.ts'
import { toVerifiers } from './verifiers.ts'
import { VerifiersTrace } from './verifiers-schema.ts'

const vector = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`vectors/${name}.json`, import.meta.url), 'utf8'))
const options = { tenant: 'default', split: 'holdout', now: 1_000 } as const

/** Two turns with a tool call, a branch, exact tokens, a reward and a signal: everything that the formats have a field for. */
const exported: ReviewedTrajectory = (() => {
  const { trajectory, reward, signals } = vector('exported') as {
    trajectory: unknown
    reward: Reward
    signals: unknown[]
  }
  return { trajectory: Trajectory.parse(trajectory), reward, signals: signals.map((signal) => Signal.parse(signal)) }
})()

describe('what leaves', () => {
  // vectors/*.json were read by the real harbor 0.24 and verifiers 0.4: scripts/vectors/codecs.py.
  it('as ATIF is what Harbor accepted', () => {
    expect(toAtif(exported)).toEqual(vector('atif'))
  })

  it('as a verifiers trace is what verifiers accepted', () => {
    expect(toVerifiers(exported)).toEqual(vector('verifiers'))
  })

  it('as ATIF trains on each turn once', () => {
    const [main, ...others] = toAtif(exported)
    const turns = [main, ...others]
      .flatMap((document) => document?.steps ?? [])
      .filter(({ source }) => source === 'agent')
    expect(turns.filter(({ is_copied_context: copied }) => !copied)).toHaveLength(exported.trajectory.steps.length)
    expect(main?.steps.some(({ is_copied_context: copied }) => copied)).toBe(false)
    expect(new Set([main, ...others].map((document) => document?.trajectory_id)).size).toBe(1 + others.length)
  })

  it('whatever clock told when something was said', () => {
    const nodes = exported.trajectory.nodes.map((node) => ({ ...node, at: 1e17 }))
    const documents = toAtif({ ...exported, trajectory: { ...exported.trajectory, nodes } })
    expect(documents.flatMap(({ steps }) => steps.filter(({ timestamp }) => timestamp !== undefined))).toEqual([])
  })

  it('never leaves a missing reward as 0', () => {
    const missing: Reward = { status: 'missing', value: null, parts: { solved: null }, reason: 'judge down' }
    expect(toVerifiers({ ...exported, reward: missing }).rewards).toEqual({ reward: null })
  })
})

describe('what came back', () => {
  const train = { ...options, split: 'train' } as const
  const { trajectory } = exported
  const asTraffic = (mayTrain: boolean): ReviewedTrajectory => ({
    ...exported,
    trajectory: {
      ...trajectory,
      origin: {
        kind: 'traffic',
        tenant: 'default',
        key: 'open',
        session: null,
        agent: null,
        subject: null,
        servedBy: null,
        train: mayTrain,
      },
    },
  })
  const back = (one: ReviewedTrajectory) => [
    ...toAtif(one).map((document) => fromAtif(AtifTrajectory.parse(document), train)),
    fromVerifiers(VerifiersTrace.parse(toVerifiers(one)), train),
  ]

  it('is not learned from where that was forbidden', () => {
    expect(new Set(back(asTraffic(true)).map((one) => one.trajectory.task.split))).toEqual(new Set(['train']))
    expect(new Set(back(asTraffic(false)).map((one) => one.trajectory.task.split))).toEqual(new Set(['holdout']))
  })

  it.each([
    { behaviourLogprobs: null },
    { sampling: { temperature: 1, truncated: true } },
    { sampling: { temperature: 0.7, truncated: false } },
  ])('has no more tokens to learn from than it told how they were drawn: %j', (change) => {
    const nodes = trajectory.nodes.map((node) => ({
      ...node,
      spans: node.spans.map((span) => (span.kind === 'sampled' ? { ...span, ...change } : span)),
    }))
    // Whatever was asked for.
    const steps = trajectory.steps.map((step) => ({ ...step, call: { ...step.call!, params: {} } }))
    const one = { ...exported, trajectory: { ...trajectory, nodes, steps } }
    const spans = back(one).flatMap((imported) =>
      imported.trajectory.nodes.flatMap((node) => node.spans.map(({ kind }) => kind)),
    )
    expect(new Set(spans)).toEqual(new Set(['encoded']))
    const known = change.sampling?.truncated === false
    for (const node of toVerifiers(one).nodes) {
      expect(node.logprobs).toHaveLength(node.mask.filter(Boolean).length)
      if (!known) expect(node.logprobs).toEqual([])
    }
    if (!known)
      expect(toAtif(one).flatMap(({ steps: said }) => said.filter(({ metrics }) => metrics?.logprobs))).toEqual([])
  })

  it('may have a prompt of 200,000 tokens', () => {
    const tokens = Array.from({ length: 200_000 }, (_, i) => i % 100)
    const read = { kind: 'encoded' as const, tokens }
    const nodes = trajectory.nodes.map((node, i) => (i === 0 ? { ...node, spans: [read] } : node))
    const [main] = toAtif({ ...exported, trajectory: { ...trajectory, nodes } })
    const back = fromAtif(AtifTrajectory.parse(main), train).trajectory
    expect(back.nodes.flatMap(({ spans }) => spans.flatMap((span) => span.tokens)).length).toBeGreaterThan(200_000)
  })

  it('is not learned from where it was forbidden, however often and in whatever form it leaves and comes back', () => {
    for (const once of back(asTraffic(false))) {
      for (const twice of back({ ...once, signals: [] })) {
        expect(twice.trajectory.task.split).toBe('holdout')
        for (const thrice of back({ ...twice, signals: [] })) expect(thrice.trajectory.task.split).toBe('holdout')
      }
    }
    for (const once of back(asTraffic(true))) {
      for (const twice of back({ ...once, signals: [] })) expect(twice.trajectory.task.split).toBe('train')
    }
  })

  it.each([
    ['length', 'token-budget'],
    ['content_filter', 'model-error'],
    [null, 'model-error'],
  ] as const)('is not whole where an answer ended by %s on the way', (finish, stopReason) => {
    const steps = trajectory.steps.map((step, i) => (i === 0 ? { ...step, call: { ...step.call!, finish } } : step))
    const [atif, verifiers] = [
      toAtif({ ...exported, trajectory: { ...trajectory, steps } })
        .filter((document) => document.steps.some(({ extra }) => extra?.finish === finish))
        .map((document) => fromAtif(AtifTrajectory.parse(document), train)),
      fromVerifiers(VerifiersTrace.parse(toVerifiers({ ...exported, trajectory: { ...trajectory, steps } })), train),
    ]
    expect(atif.length).toBeGreaterThan(0)
    for (const back of [...atif, verifiers]) expect(back.trajectory.stopReason).toBe(stopReason)
  })

  it('is vetoed where it was', () => {
    const reward: Reward = { status: 'vetoed', value: -1, parts: {}, guard: 'repetition', reason: 'again' }
    for (const one of back({ ...exported, reward })) {
      expect(one.reward).toMatchObject({ status: 'vetoed', value: -1, guard: 'repetition', reason: 'again' })
    }
  })
})

describe('what comes', () => {
  it('from Harbor: a document that it wrote itself', () => {
    const { trajectory, reward } = fromAtif(AtifTrajectory.parse(vector('atif-from-harbor')), options)
    expect(Trajectory.parse(trajectory)).toEqual(trajectory)
    expect(trajectory.origin).toMatchObject({ kind: 'import', format: 'ATIF-v1.7', metadata: { session_id: 'run-1' } })
    expect(trajectory.task).toMatchObject({ split: 'holdout', instruction: 'List the files.' })
    expect(trajectory.nodes.map(({ message: { role, content } }) => [role, content])).toEqual([
      ['system', 'You are a shell.'],
      ['user', 'List the files.'],
      ['assistant', 'I look.'],
      ['tool', 'a.txt'],
      ['assistant', 'There is a.txt.'],
    ])
    expect(trajectory.nodes[3]?.message).toMatchObject({ name: 'bash', toolCallId: 'c1' })
    expect(trajectory.steps.map(({ action }) => action)).toEqual(['n2', 'n4'])
    expect(reward.status).toBe('missing')
  })

  it('from verifiers: a trace that it wrote itself, with the tokens as sampled', () => {
    const trace = VerifiersTrace.parse(vector('verifiers-from-verifiers'))
    const calls = trace.calls.map((call) => ({ ...call, sampling: { temperature: 1 } }))
    const { trajectory, reward } = fromVerifiers({ ...trace, calls }, options)
    expect(Trajectory.parse(trajectory)).toEqual(trajectory)
    expect(reward).toEqual({ status: 'scored', value: 0.75, parts: { solved: 1, style: -0.25, turns: 2 } })
    const path = branches(trajectory)[0] ?? []
    expect(path.flatMap(({ spans }) => spans.flatMap(({ tokens }) => tokens))).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    const sampled = path.flatMap(({ spans }) => spans).filter(({ kind }) => kind === 'sampled')
    expect(sampled.flatMap((span) => (span.kind === 'sampled' ? span.logprobs : []))).toEqual([-0.5, -0.25, -1])
  })

  it('from verifiers: ended as it says, and never `done` where it does not say so', () => {
    const trace = VerifiersTrace.parse(vector('verifiers-from-verifiers'))
    const calls = trace.calls.map((call) => ({ ...call, finish_reason: 'length' }))
    const stopReason = (change: Partial<VerifiersTrace>) =>
      fromVerifiers({ ...trace, ...change }, options).trajectory.stopReason
    expect(stopReason({})).toBe('done')
    expect(stopReason({ calls })).toBe('token-budget')
    expect(stopReason({ calls, ok: false })).toBe('token-budget')
    expect(stopReason({ ok: false })).toBe('agent-error')
    expect(stopReason({ ok: false, is_timeout: true })).toBe('time-budget')
    expect(stopReason({ stop_condition: 'max_turns' })).toBe('turn-budget')
    expect(stopReason({ stop_condition: 'max_total_tokens' })).toBe('token-budget')
  })

  it('from clocks of any kind: what no calendar has is not known', () => {
    const trace = VerifiersTrace.parse(vector('verifiers-from-verifiers'))
    for (const timestamp of [1e14, -1e14, 1e308]) {
      const nodes = trace.nodes.map((node) => ({ ...node, timestamp }))
      const { trajectory } = fromVerifiers({ ...trace, nodes }, options)
      expect(trajectory).toMatchObject({ startedAt: options.now, seconds: 0 })
      expect(trajectory.nodes.every(({ at }) => at === undefined)).toBe(true)
    }
  })

  it('again is the same trajectory, and another record is another', () => {
    const document = AtifTrajectory.parse(vector('atif-from-harbor'))
    const again = structuredClone(document)
    expect(fromAtif(again, options).trajectory.id).toBe(fromAtif(document, options).trajectory.id)
    expect(fromAtif({ ...document, notes: 'x' }, options).trajectory.id).not.toBe(
      fromAtif(document, options).trajectory.id,
    )
    expect(fromAtif(document, { ...options, tenant: 'other' }).trajectory.id).not.toBe(
      fromAtif(document, options).trajectory.id,
    )
  })

  it('keeps the tokens of one origin, through both formats', () => {
    const tokens = (trajectory: Trajectory) =>
      branches(trajectory).map((path) =>
        path.flatMap(({ spans }) => spans.map(({ kind, tokens }) => [kind, ...tokens])),
      )
    expect(tokens(fromVerifiers(toVerifiers(exported), options).trajectory)).toEqual(tokens(exported.trajectory))
    const [main] = toAtif(exported)
    const back = fromAtif(AtifTrajectory.parse(main), options)
    expect(tokens(back.trajectory)[0]?.flat()).toEqual(tokens(exported.trajectory).at(-1)?.flat())
    expect(back.reward).toEqual(exported.reward)
  })

  it.each([{ temperature: 0.7 }, { temperature: 1, top_p: 0.9 }, { temperature: 1, top_k: 20 }, {}, null])(
    'with log-probabilities of tokens drawn by %j is context only: what is known does not suffice',
    (sampling) => {
      const trace = VerifiersTrace.parse(vector('verifiers-from-verifiers'))
      const calls = trace.calls.map((call) => ({ ...call, sampling }))
      const { trajectory } = fromVerifiers({ ...trace, calls }, options)
      expect(trajectory.nodes.flatMap(({ spans }) => spans.map(({ kind }) => kind))).not.toContain('sampled')
    },
  )
})

describe('hostile records', () => {
  it('are refused by the schema, or read into a trajectory that holds together', () => {
    const json = fc.jsonValue({ maxDepth: 3 })
    const text = fc.string({ unit: 'binary', maxLength: 20 })
    const step = fc.record({
      step_id: fc.nat().map((n) => n + 1),
      source: fc.constantFrom('system', 'user', 'agent'),
      message: fc.oneof(text, fc.array(fc.record({ type: text, text }), { maxLength: 2 })),
      timestamp: fc.oneof(text, fc.constant('2026-11-20T00:00:00Z')),
      tool_calls: fc.option(
        fc.array(fc.record({ tool_call_id: text, function_name: text, arguments: fc.dictionary(text, json) }), {
          maxLength: 2,
        }),
      ),
      observation: fc.option(
        fc.record({
          results: fc.array(fc.record({ source_call_id: fc.option(text), content: fc.option(text) }), { maxLength: 2 }),
        }),
      ),
      metrics: fc.option(
        fc.record({
          prompt_token_ids: fc.option(fc.array(fc.nat(9))),
          completion_token_ids: fc.array(fc.nat(9)),
          logprobs: fc.array(fc.double({ noNaN: true })),
          extra: fc.constant({ temperature: 1 }),
        }),
      ),
    })
    const document = fc.record({
      schema_version: fc.constant('ATIF-v1.7'),
      agent: fc.record({ name: text, version: text }),
      steps: fc.array(step, { minLength: 1, maxLength: 5 }),
      extra: fc.option(fc.dictionary(fc.constantFrom('ratchet', 'x'), json)),
    })
    fc.assert(
      fc.property(document, (candidate) => {
        const parsed = AtifTrajectory.safeParse(candidate)
        if (!parsed.success) return
        const { trajectory } = fromAtif(parsed.data, options)
        Trajectory.parse(trajectory)
        toAtif({ trajectory, reward: exported.reward, signals: [] })
        toVerifiers({ trajectory, reward: exported.reward, signals: [] })
      }),
      { numRuns: 300 },
    )
  })

  it('of verifiers too', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 })
    const node = fc.record({
      parent: fc.option(fc.nat(4)),
      sampled: fc.boolean(),
      token_ids: fc.array(fc.nat(9), { maxLength: 4 }),
      mask: fc.array(fc.boolean(), { maxLength: 4 }),
      logprobs: fc.array(fc.double({ noNaN: true, max: 1 }), { maxLength: 4 }),
      message: fc.oneof(
        fc.record({ role: fc.constantFrom('system', 'user'), content: text }),
        fc.record({
          role: fc.constant('assistant'),
          content: fc.option(text),
          tool_calls: fc.option(fc.array(fc.record({ id: text, name: text, arguments: text }), { maxLength: 2 })),
        }),
        fc.record({ role: fc.constant('tool'), tool_call_id: text, content: text }),
      ),
    })
    const trace = fc.record({
      version: fc.constant(1),
      id: text,
      task: fc.record({ type: text, data: fc.record({ id: fc.option(text) }) }),
      nodes: fc.array(node, { maxLength: 5 }),
      stop_condition: fc.option(text),
    })
    fc.assert(
      fc.property(trace, (candidate) => {
        const parsed = VerifiersTrace.safeParse(candidate)
        if (!parsed.success) return
        Trajectory.parse(fromVerifiers(parsed.data, options).trajectory)
      }),
      { numRuns: 300 },
    )
  })
})
