import { trace, type Tracer } from '@opentelemetry/api'
import type { Registry } from 'prom-client'
import type { UpstreamLoad } from '../../core/index.ts'
import { type Log, silent } from '../log.ts'
import { type CallTelemetry, erasedCall, type Telemetry } from '../ports.ts'
import { endCallSpan, startCallSpan } from './call-span.ts'
import { callLine } from './call-line.ts'
import { GatewayMetrics } from './metrics.ts'

/** Where calls are told of. */
export interface TelemetryOptions {
  /** The metrics' own registry; a new one by default. */
  readonly registry?: Registry
  readonly logger?: Log
  /** By default the host program's, which without an OpenTelemetry SDK does nothing. */
  readonly tracer?: Tracer
  /** Of the upstreams, asked at every scrape. */
  readonly load?: () => readonly UpstreamLoad[]
  /** Names that clients and upstreams made up, as they may be told of. Default: as they are. */
  readonly nameAsTold?: (name: string) => string
  /** Monotonic milliseconds. */
  readonly perf?: { now(): number }
}

/** How the store took the latest call. */
export interface LastCommit {
  readonly ok: boolean
  /** Milliseconds since then. */
  readonly ageMs: number
}

/** Telemetry with what the operator's routes show of it. */
export interface GatewayTelemetry extends Telemetry {
  readonly metrics: GatewayMetrics
  /** `null` before the first. */
  lastCommit(): LastCommit | null
}

type CallInfo = Parameters<Telemetry['call']>[0]
type CallOutcome = Parameters<CallTelemetry['end']>[0]

/** Tells Prometheus, OpenTelemetry and the log of every call; none of them of what was said in it. */
export function gatewayTelemetry({
  registry,
  logger = silent,
  tracer = trace.getTracer('ratchet'),
  load,
  nameAsTold = (name) => name,
  perf = performance,
}: TelemetryOptions = {}): GatewayTelemetry {
  const metrics = new GatewayMetrics(registry, load)
  let last: { readonly ok: boolean; readonly at: number } | null = null

  function countEnd(info: CallInfo, outcome: CallOutcome): void {
    const { answer, status, failure } = outcome
    const model = answer?.servedModel ?? info.model
    if (answer && status < 400) metrics.models.learn(model)
    if (failure) metrics.failures.learn(failure.code)
    const label = metrics.models.label(model)
    metrics.calls.inc({
      operation: info.operation,
      model: label,
      upstream: answer?.upstream ?? 'none',
      status: String(status),
      failure: failure ? metrics.failures.label(failure.code) : 'none',
    })
    if (answer?.usage) {
      const { promptTokens, completionTokens, cachedTokens } = answer.usage
      metrics.tokens.inc({ direction: 'input', model: label }, promptTokens)
      metrics.tokens.inc({ direction: 'output', model: label }, completionTokens)
      if (cachedTokens) metrics.tokens.inc({ direction: 'cached', model: label }, cachedTokens)
    }
  }

  function countCommit({ committed, commitMs, failure, status }: CallOutcome): void {
    const refused = committed === null && failure?.code.startsWith('store/') === true
    if (committed === null && !refused) return
    // Nobody's trouble: it was asked for.
    if (committed?.recorded === false && committed.reason === erasedCall) {
      metrics.commits.inc({ outcome: 'erased' })
      return
    }
    const ok = committed?.recorded === true
    last = { ok, at: perf.now() }
    metrics.commits.inc({ outcome: ok ? 'committed' : 'failed' })
    if (committed?.recorded === false && status < 400) metrics.unrecorded.inc()
    if (commitMs !== undefined) metrics.commitSeconds.observe(commitMs / 1_000)
  }

  return {
    metrics,
    call(asked): CallTelemetry {
      const info = { ...asked, model: nameAsTold(asked.model) }
      const { operation } = info
      const began = perf.now()
      const span = startCallSpan(tracer, info)
      metrics.inFlight.inc({ operation })
      let firstTokenMs: number | null = null
      let ended = false
      return {
        firstToken: () => {
          if (firstTokenMs !== null) return
          firstTokenMs = perf.now() - began
          metrics.firstTokenSeconds.observe({ operation }, firstTokenMs / 1_000)
        },
        end: (ending) => {
          if (ended) return
          ended = true
          const outcome = asTold(ending, nameAsTold)
          const ms = perf.now() - began
          metrics.inFlight.dec({ operation })
          metrics.callSeconds.observe({ operation, stream: String(info.stream) }, ms / 1_000)
          countEnd(info, outcome)
          countCommit(outcome)
          endCallSpan(span, outcome, firstTokenMs === null ? null : firstTokenMs / 1_000)
          const troubled = outcome.failure !== null || outcome.committed?.recorded === false
          logger[troubled ? 'warn' : 'info'](callLine(info, outcome, { ms, firstTokenMs }), 'call')
        },
      }
    },
    signals: (outcomes) => {
      for (const [outcome, count] of Object.entries(outcomes)) metrics.signals.inc({ outcome }, count)
    },
    lastCommit: () => last && { ok: last.ok, ageMs: perf.now() - last.at },
  }
}

function asTold(outcome: CallOutcome, nameAsTold: (name: string) => string): CallOutcome {
  const { answer, failure } = outcome
  return {
    ...outcome,
    answer: answer && {
      ...answer,
      servedModel: nameAsTold(answer.servedModel),
      upstreamId: answer.upstreamId === null ? null : nameAsTold(answer.upstreamId),
    },
    failure: failure && { ...failure, code: nameAsTold(failure.code) },
  }
}
