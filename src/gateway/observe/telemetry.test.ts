import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NodeId, TrajectoryId } from '../../core/index.ts'
import { privateAnswer, privateCaller } from '../../../test/support/answered.ts'
import { gatewayLogger } from './logger.ts'
import { gatewayTelemetry, type GatewayTelemetry } from './telemetry.ts'

const trajectory = TrajectoryId.parse('t_1')
const info = { operation: 'chat', model: 'qwen', stream: true, caller: privateCaller, trajectory } as const
const committed = { recorded: true, nodes: [NodeId.parse('n')] } as const
const good = {
  status: 200,
  answer: privateAnswer,
  failure: null,
  committed,
  commitMs: 2,
  responseId: 'chatcmpl-1',
} as const
const unrecorded = { ...good, committed: { recorded: false, reason: 'disk full' } } as const

let exporter: InMemorySpanExporter
let lines: string[]
let time: number
let telemetry: GatewayTelemetry
beforeEach(() => {
  exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  lines = []
  time = 1_000
  telemetry = gatewayTelemetry({
    registry: new Registry(),
    tracer: provider.getTracer('test'),
    logger: gatewayLogger({ level: 'info', destination: { write: (line: string) => void lines.push(line) } }),
    load: () => [{ upstream: 'vllm', active: 3, waiting: 7 }],
    perf: { now: () => time },
  })
})
afterEach(() => propagation.disable())

const metrics = () => telemetry.metrics.registry.metrics()
const sample = async (name: string): Promise<number | null> => {
  const line = (await metrics()).split('\n').find((text) => text.startsWith(`${name} `))
  return line === undefined ? null : Number(line.slice(name.length + 1))
}
const span = () => {
  const [first, ...others] = exporter.getFinishedSpans()
  expect(others).toEqual([])
  return first!
}

describe('a call', () => {
  it('is a span by the GenAI conventions', () => {
    const call = telemetry.call(info)
    expect(exporter.getFinishedSpans()).toEqual([])
    time += 250
    call.firstToken()
    time += 750
    call.end(good)
    expect(span()).toMatchObject({ name: 'chat qwen', kind: SpanKind.CLIENT, status: { code: SpanStatusCode.UNSET } })
    expect(span().attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'vllm',
      'gen_ai.system': 'vllm',
      'gen_ai.request.model': 'qwen',
      'gen_ai.request.stream': true,
      'gen_ai.response.model': 'qwen3-4b',
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.time_to_first_chunk': 0.25,
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.conversation.id': trajectory,
      'http.response.status_code': 200,
      'ratchet.trajectory': trajectory,
      'ratchet.recorded': true,
    })
  })

  it('is counted: its end, its times, its tokens, its commit', async () => {
    const call = telemetry.call(info)
    expect(await sample('ratchet_calls_in_flight{operation="chat"}')).toBe(1)
    time += 250
    call.firstToken()
    call.firstToken()
    time += 750
    call.end(good)
    call.end({ ...good, status: 500 })
    expect(await sample('ratchet_calls_in_flight{operation="chat"}')).toBe(0)
    expect(
      await sample(
        'ratchet_calls_total{operation="chat",model="qwen3-4b",upstream="vllm",status="200",failure="none"}',
      ),
    ).toBe(1)
    expect(await sample('ratchet_call_seconds_sum{operation="chat",stream="true"}')).toBe(1)
    expect(await sample('ratchet_first_token_seconds_count{operation="chat"}')).toBe(1)
    expect(await sample('ratchet_first_token_seconds_sum{operation="chat"}')).toBe(0.25)
    expect(await sample('ratchet_tokens_total{direction="input",model="qwen3-4b"}')).toBe(100)
    expect(await sample('ratchet_tokens_total{direction="output",model="qwen3-4b"}')).toBe(20)
    expect(await sample('ratchet_tokens_total{direction="cached",model="qwen3-4b"}')).toBe(60)
    expect(await sample('ratchet_commits_total{outcome="committed"}')).toBe(1)
    expect(await sample('ratchet_commit_seconds_sum')).toBe(0.002)
    expect(await sample('ratchet_unrecorded_answers_total')).toBe(0)
    expect(await metrics()).not.toContain('status="500"')
  })

  it('is one line of the log', () => {
    const call = telemetry.call(info)
    time += 250.04
    call.firstToken()
    time += 750
    call.end(good)
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 30,
      msg: 'call',
      operation: 'chat',
      model: 'qwen',
      servedModel: 'qwen3-4b',
      upstream: 'vllm',
      stream: true,
      status: 200,
      ms: 1000,
      firstTokenMs: 250,
      commitMs: 2,
      inputTokens: 100,
      outputTokens: 20,
      finish: ['stop'],
      tenant: 'acme',
      key: 'key1key1key1',
      trajectory: 't_1',
      response: 'chatcmpl-1',
      recorded: true,
    })
  })

  it('that failed says how, and nothing that anybody said', async () => {
    const failure = { code: 'model/broken', message: 'PRIVATE-quote of an upstream' }
    telemetry.call(info).end({ status: 502, answer: null, failure, committed })
    expect(span()).toMatchObject({ status: { code: SpanStatusCode.ERROR } })
    expect(span().attributes).toMatchObject({ 'error.type': 'model/broken', 'http.response.status_code': 502 })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 40, failure: 'model/broken', status: 502 })
    expect(
      await sample(
        'ratchet_calls_total{operation="chat",model="other",upstream="none",status="502",failure="model/broken"}',
      ),
    ).toBe(1)
  })

  it('that was refused without a failure has its status for a type', () => {
    telemetry.call(info).end({ status: 404, answer: null, failure: null, committed: null })
    expect(span().attributes).toMatchObject({ 'error.type': '404' })
  })

  it('may learn its trajectory late', () => {
    telemetry.call({ ...info, trajectory: null }).end({ ...good, trajectory: TrajectoryId.parse('t_late') })
    expect(span().attributes).toMatchObject({ 'ratchet.trajectory': 't_late' })
    expect(JSON.parse(lines[0] ?? '').trajectory).toBe('t_late')
  })

  it('tells nobody what was said, who said it, or with which key', async () => {
    const failure = { code: 'x/y', message: 'PRIVATE-message' }
    const headers = new Headers({ authorization: 'Bearer PRIVATE-key', cookie: 'PRIVATE-cookie' })
    for (const outcome of [good, { ...good, failure }, { ...unrecorded, failure }]) {
      telemetry.call({ ...info, headers }).end(outcome)
    }
    const told = JSON.stringify([
      lines,
      await metrics(),
      exporter.getFinishedSpans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    ])
    expect(told).toContain('qwen')
    expect(told).not.toContain('PRIVATE')
  })
})

describe('the trace of a client', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const spanId = 'b7ad6b7169203331'
  const callWith = (headers: Record<string, string>) => {
    telemetry.call({ ...info, headers: new Headers(headers) }).end(good)
    return span()
  }

  it('is the parent, without anyone having set up propagation', () => {
    const call = callWith({ traceparent: `00-${traceId}-${spanId}-01` })
    expect(call.spanContext().traceId).toBe(traceId)
    expect(call.parentSpanContext).toMatchObject({ traceId, spanId, isRemote: true, traceFlags: 1 })
  })

  it('of a later version of the format is read as far as it is known', () => {
    expect(callWith({ traceparent: `cc-${traceId}-${spanId}-01-more` }).spanContext().traceId).toBe(traceId)
  })

  it('is found as the host program looks for it', () => {
    propagation.setGlobalPropagator({
      inject: () => {},
      fields: () => ['b3'],
      extract: (parent, carrier, getter) =>
        getter.get(carrier, 'b3') === undefined
          ? parent
          : trace.setSpanContext(parent, { traceId, spanId, traceFlags: 1, isRemote: true }),
    })
    expect(callWith({ b3: '1', traceparent: `00-${'1'.repeat(32)}-${spanId}-01` }).spanContext().traceId).toBe(traceId)
  })

  it.each([
    'garbage',
    '',
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `ff-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01`.repeat(1_000),
  ])('that is none is none: %.80s', (traceparent) => {
    const call = callWith({ traceparent })
    expect(call.parentSpanContext).toBeUndefined()
  })

  it('does not reach calls that say nothing', () => {
    context.with(trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: 1 }), () => {
      telemetry.call(info).end(good)
    })
    expect(span().parentSpanContext).toBeUndefined()
  })
})

describe('metrics', () => {
  it('know the models that answered, so many, and no name that a client made up', async () => {
    for (let i = 0; i < 500; i += 1) {
      telemetry
        .call({ ...info, model: `made-up-${i}` })
        .end({ status: 404, answer: null, failure: null, committed: null })
      telemetry.call(info).end({ ...good, answer: { ...privateAnswer, servedModel: `served-${i}` } })
    }
    telemetry.call(info).end({ ...good, answer: { ...privateAnswer, servedModel: 'x'.repeat(100_000) } })
    const text = await metrics()
    expect(text).not.toContain('made-up')
    expect(text).toContain('model="served-0"')
    expect(text).toContain('model="other"')
    expect(new Set(text.match(/model="[^"]*"/g)).size).toBeLessThanOrEqual(65)
    expect(text.length).toBeLessThan(100_000)
  })

  it('count signals, queues and commits that failed', async () => {
    telemetry.signals({ recorded: 3, capped: 1 })
    telemetry.call(info).end(unrecorded)
    telemetry
      .call(info)
      .end({ status: 503, answer: null, failure: { code: 'store/full', message: '' }, committed: null })
    expect(await sample('ratchet_signals_total{outcome="recorded"}')).toBe(3)
    expect(await sample('ratchet_upstream_calls{upstream="vllm",state="waiting"}')).toBe(7)
    expect(await sample('ratchet_commits_total{outcome="failed"}')).toBe(2)
    expect(await sample('ratchet_unrecorded_answers_total')).toBe(1)
  })

  it('tell a stream that failed after its 200 from one that did not', async () => {
    telemetry.call(info).end({ ...good, failure: { code: 'model/cut', message: '' } })
    for (let i = 0; i < 200; i += 1)
      telemetry.call(info).end({ ...good, failure: { code: `made-up/${i}`, message: '' } })
    const labels = 'operation="chat",model="qwen3-4b",upstream="vllm",status="200"'
    expect(await sample(`ratchet_calls_total{${labels},failure="model/cut"}`)).toBe(1)
    expect(await sample(`ratchet_calls_total{${labels},failure="other"}`)).toBe(200 - 63)
  })

  it('do not count as given what was refused', async () => {
    telemetry.call(info).end({ ...unrecorded, status: 502, answer: null })
    expect(await sample('ratchet_unrecorded_answers_total')).toBe(0)
    expect(await sample('ratchet_commits_total{outcome="failed"}')).toBe(1)
  })

  it('of two gateways in one process do not meet', async () => {
    const other = gatewayTelemetry()
    other.signals({ recorded: 5 })
    expect(await sample('ratchet_signals_total{outcome="recorded"}')).toBeNull()
  })

  it('say how the latest commit went', () => {
    expect(telemetry.lastCommit()).toBeNull()
    telemetry.call(info).end(unrecorded)
    time += 500
    expect(telemetry.lastCommit()).toEqual({ ok: false, ageMs: 500 })
    telemetry.call({ ...info, operation: 'embeddings' }).end({ ...good, committed: null })
    expect(telemetry.lastCommit()?.ok).toBe(false)
    telemetry.call(info).end(good)
    expect(telemetry.lastCommit()).toEqual({ ok: true, ageMs: 0 })
  })
})
