import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { UpstreamLoad } from '../../core/index.ts'
import { KnownNames } from './known-names.ts'

/** Seconds: from what the embedded engine's first token takes to a long answer. */
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/** Seconds: from memory to a disk in trouble. */
const commitBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

/**
 * What Prometheus is told. Labels are the gateway's own words, the configuration's names, and models that have answered;
 * nothing that a client can make up.
 */
export class GatewayMetrics {
  readonly registry: Registry
  /** Models that have answered. */
  readonly models = new KnownNames()
  /** Codes of failures: few, unless an upstream of somebody's own makes them up. */
  readonly failures = new KnownNames()
  readonly requests: Counter<'method' | 'route' | 'status'>
  readonly calls: Counter<'operation' | 'model' | 'upstream' | 'status' | 'failure'>
  readonly inFlight: Gauge<'operation'>
  readonly callSeconds: Histogram<'operation' | 'stream'>
  readonly firstTokenSeconds: Histogram<'operation'>
  readonly tokens: Counter<'direction' | 'model'>
  readonly commits: Counter<'outcome'>
  readonly commitSeconds: Histogram
  readonly unrecorded: Counter
  readonly signals: Counter<'outcome'>
  readonly unread: Counter
  readonly fallBacks: Counter<'agent'>

  /**
   * @param registry its own, so that two gateways of one process, or a host program's metrics, do not meet.
   * @param load of the upstreams, asked at every scrape.
   */
  constructor(registry: Registry = new Registry(), load: () => readonly UpstreamLoad[] = () => []) {
    this.registry = registry
    const registers = [registry]
    collectDefaultMetrics({ register: registry })
    this.requests = new Counter({
      name: 'ratchet_http_requests_total',
      help: 'Requests by route and status; of a stream, the status that it began with.',
      labelNames: ['method', 'route', 'status'],
      registers,
    })
    this.calls = new Counter({
      name: 'ratchet_calls_total',
      help: 'Calls of models that ended, by what was asked, who answered, the status, and the failure: a stream may fail after its 200.',
      labelNames: ['operation', 'model', 'upstream', 'status', 'failure'],
      registers,
    })
    this.inFlight = new Gauge({
      name: 'ratchet_calls_in_flight',
      help: 'Calls of models under way.',
      labelNames: ['operation'],
      registers,
    })
    this.callSeconds = new Histogram({
      name: 'ratchet_call_seconds',
      help: 'From the request to the end of the answer, its commit included.',
      labelNames: ['operation', 'stream'],
      buckets: callBuckets,
      registers,
    })
    this.firstTokenSeconds = new Histogram({
      name: 'ratchet_first_token_seconds',
      help: 'From the request to the first token of a streamed answer.',
      labelNames: ['operation'],
      buckets: callBuckets,
      registers,
    })
    this.tokens = new Counter({
      name: 'ratchet_tokens_total',
      help: 'Tokens as upstreams count them: input, of those cached, and output.',
      labelNames: ['direction', 'model'],
      registers,
    })
    this.commits = new Counter({
      name: 'ratchet_commits_total',
      help: 'Calls committed to the store, failed to be, or left out since their person was erased meanwhile.',
      labelNames: ['outcome'],
      registers,
    })
    this.commitSeconds = new Histogram({
      name: 'ratchet_commit_seconds',
      help: 'How long a commit took.',
      buckets: commitBuckets,
      registers,
    })
    this.unrecorded = new Counter({
      name: 'ratchet_unrecorded_answers_total',
      help: 'Answers that were given and could not be recorded (record: best-effort).',
      registers,
    })
    this.signals = new Counter({
      name: 'ratchet_signals_total',
      help: 'Signals by what became of them.',
      labelNames: ['outcome'],
      registers,
    })
    this.unread = new Counter({
      name: 'ratchet_unread_texts_total',
      help: 'Texts that no redaction rule could be applied to in time, and that were not written.',
      registers,
    })
    this.fallBacks = new Counter({
      name: 'ratchet_candidate_fallbacks_total',
      help: 'Calls of a canary whose candidate could not be served, and that got what serves everybody else.',
      labelNames: ['agent'],
      registers,
    })
    const queue = new Gauge({
      name: 'ratchet_upstream_calls',
      help: 'Calls at an upstream, and calls that wait for a place there.',
      labelNames: ['upstream', 'state'] as const,
      registers,
      collect: () => {
        for (const { upstream, active, waiting } of load()) {
          queue.set({ upstream, state: 'active' }, active)
          queue.set({ upstream, state: 'waiting' }, waiting)
        }
      },
    })
  }
}

/** Counts every request by its route's pattern, never by its path: that is the client's, and may name people. */
export function countRequests({ requests }: GatewayMetrics): MiddlewareHandler {
  return async (c, next) => {
    await next()
    const pattern = routePath(c, -1)
    const route = pattern.endsWith('*') ? 'unmatched' : pattern
    requests.inc({ method: c.req.method, route, status: String(c.res.status) })
  }
}
