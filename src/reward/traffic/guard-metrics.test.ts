import { describe, expect, it } from 'vitest'
import { type Line, type SessionSketch, talk, told } from '../../../test/support/traffic-session.ts'
import { sampledSpan, trajectoryOf } from '../../../test/support/trajectories.ts'
import { CallId, type ModelCall, StopReason } from '../../core/index.ts'
import { defaultGuardTolerances, GuardMetric, type GuardMetricsOptions, guardMetrics } from './guard-metrics.ts'

const ask = 'What is the price of plums?'
const usage = { promptTokens: 100, completionTokens: 20, cachedTokens: 40 }
const metrics = (
  lines: readonly Line[],
  sketch: SessionSketch & GuardMetricsOptions & { readonly asOf?: number } = {},
) => guardMetrics(talk(lines, sketch), [], sketch.asOf, sketch)
const asAnyMetrics: Readonly<Record<string, number>> = metrics([])

describe('of one session', () => {
  it('an honest answer shows nothing but its length and time', () => {
    expect(metrics([ask, { says: 'Three euros.', call: { usage, totalMs: 1_500 } }])).toEqual({
      brokenCalls: 0,
      questionsBack: 0,
      inaction: 0,
      errors: 0,
      toolErrors: 0,
      askedAgain: 0,
      tokens: 20,
      seconds: 1.5,
      cost: 60 + 4 + 80,
    })
  })

  it.each<[GuardMetric, readonly Line[]]>([
    ['brokenCalls', [ask, { says: '', message: { malformedCalls: [{ text: 'x', problem: 'no' }] } }]],
    ['questionsBack', [ask, 'Which plums do you mean?']],
    ['inaction', ['Cancel order 12.', { says: 'I have cancelled it.', call: { tools: 't' } }]],
    ['inaction', [ask, '']],
    [
      'toolErrors',
      [ask, { says: '', message: { toolCalls: [{ name: 't', arguments: {} }] } }, { tool: 'Error: none' }],
    ],
  ])('%s', (name, lines) => {
    const shown = metrics(lines)
    for (const metric of ['brokenCalls', 'questionsBack', 'inaction', 'errors', 'toolErrors'] as const) {
      expect([metric, shown[metric]]).toEqual([metric, metric === name ? 1 : 0])
    }
  })

  it('a question back on an unclear task is none, and clarity can be judged otherwise', () => {
    expect(metrics(['Fix it', 'What shall be fixed?'])).toMatchObject({ questionsBack: 0 })
    expect(metrics(['Fix it', 'What shall be fixed?'], { clarity: { name: 'all', of: () => 1 } })).toMatchObject({
      questionsBack: 1,
    })
  })

  it.each<[StopReason, string | null, number]>([
    ['model-error', 'model/upstream-failed', 1],
    ['model-error', 'gateway/unfinished-answer', 1],
    ['model-error', 'model/upstream-unreachable', 1],
    ['model-error', 'model/upstream-refused', 1],
    ['token-budget', null, 1],
    ['cancelled', null, 0],
    ['interrupted', null, 1],
    ['environment-error', null, 1],
    ['done', null, 0],
  ])('errors: %s with %s is %d', (stopReason, code, errors) => {
    const failure = code === null ? null : { code, message: 'x' }
    expect(metrics([ask, 'Three.'], { stopReason, failure })).toMatchObject({ errors })
  })

  it.each<[string, Partial<ModelCall>, number]>([
    ['that came to its end', {}, 0],
    ['that broke off', { finish: null }, 1],
    ['that its client left', { finish: null, cancelled: true }, 0],
    ['that was cut', { finish: 'length' }, 1],
    ['that was asked again', { retryOf: CallId.parse('before') }, 1],
  ])('errors: a call in the midst of it %s', (_, call, errors) => {
    expect(metrics([ask, { says: 'Three.', call }, 'And?', 'Four.'])).toMatchObject({ errors })
  })

  it('takes the time and the cost of all its calls', () => {
    const call = { usage, totalMs: 1_500 }
    const twice = [ask, { says: 'Three euros.', call }, 'And pears?', { says: 'Four.', call }] as const
    expect(metrics(twice)).toMatchObject({ seconds: 3, cost: 2 * (60 + 4 + 80) })
  })

  it('estimates the cost of calls of which nobody tells the usage: what was read before each, and what it said', () => {
    const [asked, said] = [ask.length, 'x'.repeat(40)]
    const [read, sampled] = [Math.ceil(asked / 4), 10]
    const lines = [ask, { says: said, call: {} }, { user: ask }, { says: said, call: {} }] as const
    expect(metrics(lines)).toMatchObject({ cost: read + 4 * sampled + (2 * read + sampled) + 4 * sampled })
  })

  it('every metric is there whatever a session holds, and is a number from 0 on', () => {
    for (const stopReason of StopReason.options) {
      for (const lines of [[], [{ user: ask }], [ask, { says: 'x', call: { finish: null } }]] as const) {
        const shown = metrics(lines, { stopReason })
        for (const metric of GuardMetric.options) {
          expect(shown[metric]).toBeGreaterThanOrEqual(0)
        }
      }
    }
  })

  it('counts tokens by the upstream’s word, the tokens themselves, or the characters', () => {
    expect(metrics([ask, 'x'.repeat(41)])).toMatchObject({ tokens: 11 })
    expect(metrics([ask, { says: 'x', call: { usage } }, 'And?', { says: 'y'.repeat(8), call: {} }])).toMatchObject({
      tokens: 22,
    })
    const rollout = trajectoryOf({
      nodes: [{ id: 'a', message: { role: 'assistant', content: 'x' }, spans: [sampledSpan([1, 2, 3])] }],
    })
    expect(guardMetrics(rollout)).toMatchObject({ tokens: 3, seconds: 0 })
  })

  it('hears of tools from the operator, and not from a user', () => {
    const session = talk([ask, 'Three.'])
    expect(guardMetrics(session, [told('tool-error', true, { source: 'outcome' })])).toMatchObject({ toolErrors: 1 })
    expect(guardMetrics(session, [told('tool-error', true)])).toMatchObject({ toolErrors: 0 })
  })

  it('hears that its person asked the same again from nobody but the gateway itself', () => {
    const session = talk([ask, 'Three.'])
    const derived = told('asked-again', -0.5, { reporter: 'implicit' })
    expect(guardMetrics(session, [derived])).toMatchObject({ askedAgain: 1 })
    expect(guardMetrics(session, [told('asked-again', -0.5, { reporter: 'k:ann' })])).toMatchObject({ askedAgain: 0 })
  })

  it('sees nothing after asOf', () => {
    const lines: Line[] = [ask, 'Three.', 'And?', 'Which ones do you mean?']
    expect(metrics([...lines], { asOf: 2 })).toMatchObject({ tokens: 2 })
  })
})

it('goes where names of metrics may be any', () => {
  expect(Object.keys(asAnyMetrics).toSorted()).toEqual(GuardMetric.options.toSorted())
})

it('every metric has a tolerance within its range', () => {
  expect(Object.keys(defaultGuardTolerances).toSorted()).toEqual(GuardMetric.options.toSorted())
  for (const { tolerance, range } of Object.values(defaultGuardTolerances)) {
    expect(range[0]).toBe(0)
    expect(tolerance).toBeGreaterThanOrEqual(0)
    expect(tolerance).toBeLessThan(range[1])
  }
})
