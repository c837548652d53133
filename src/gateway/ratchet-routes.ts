import { OpenAPIHono } from '@hono/zod-openapi'
import { type Clock, type Json, type Store, systemClock, type Tenant } from '../core/index.ts'
import {
  auditRoutes,
  auditSignals,
  keyRoutes,
  type ReleaseRoutesOptions,
  releaseRoutes,
  sessionRoutes,
  subjectRoutes,
} from './admin/index.ts'
import type { KeyDoorkeeper } from './auth/index.ts'
import type { PaidBy } from '../release/index.ts'
import { trafficRubric, TrafficRubricConfig } from '../reward/index.ts'
import type { ServeConfig } from './config.ts'
import { redactId, redactName, redactSession } from './episode/redaction/pseudonym.ts'
import { redactJson } from './episode/redaction/redact-json.ts'
import type { Redaction } from './episode/redaction/index.ts'
import type { BodySpace } from './http/body-room.ts'
import { type Check, type GatewayTelemetry, observeRoutes } from './observe/index.ts'
import { signalRoutes, trajectoryRoutes } from './signals/index.ts'
import type { Redacting, SignalIntake } from './signals/take-signals.ts'

/** What Ratchet's own routes need. */
export interface RatchetRoutesOptions {
  readonly store: Store
  readonly config: Pick<ServeConfig, 'agents' | 'limits' | 'tenant'>
  readonly door: KeyDoorkeeper
  readonly telemetry: GatewayTelemetry
  /** Shared with the routes that agents call. */
  readonly bodies: BodySpace
  /** Signals, names and reasons are redacted like conversations. */
  readonly redaction: Redaction
  /** Told after an erasure. */
  readonly onErased?: () => void
  /** What this process knows of releases: how canaries are judged, and whom to tell of changes. */
  readonly releases?: Pick<ReleaseRoutesOptions, 'look' | 'rules' | 'onServingChanged'>
  readonly clock?: Clock
  /** What must be well beside the store for `/readyz`. */
  readonly checks?: readonly Check[]
}

/** How signals are read: by the rubric of each agent that learns, and by the usual one, which judges all others. */
const readingsOf = ({ agents }: Pick<ServeConfig, 'agents'>) => [
  TrafficRubricConfig.parse({}).signals,
  ...agents.flatMap(({ learn }) => (learn ? [learn.rubric.signals] : [])),
]

/** By the rubric of an agent that learns; of others nobody here knows it. */
const paidByOf =
  ({ agents }: Pick<ServeConfig, 'agents'>) =>
  (agent: string): PaidBy => {
    const learn = agents.find(({ name }) => name === agent)?.learn
    const { floor, ceiling } = learn?.rubric ?? TrafficRubricConfig.parse({})
    return { range: [floor, ceiling], rubric: learn ? trafficRubric(learn.rubric, learn.reporters).hash : null }
  }

/**
 * Every route that is Ratchet's own, beside the OpenAI API's: signals, trajectories, sessions, keys, erasure, releases, and
 * what operators look at. For `routes` of `createGateway`.
 */
export function ratchetRoutes(options: RatchetRoutesOptions): OpenAPIHono<never> {
  const {
    store,
    config,
    door,
    telemetry,
    bodies,
    redaction,
    clock = systemClock,
    checks = [],
    releases = {},
    onErased = () => {},
  } = options
  const { keys, signals, trajectories } = store
  const { limits, tenant } = config
  const asking = { door, bodies, bodyBytes: limits.bodyBytes, clock }
  const app = new OpenAPIHono<never>()
  const names = {
    redactName: (name: string, tenant: Tenant) => redactName(name, tenant, redaction),
    redactSession: (name: string, tenant: Tenant) => redactSession(name, tenant, redaction),
  }
  const redacting: SignalIntake['redacting'] = (read) => redaction.reading((by) => read(redactingBy(by)))
  app.route('/', signalRoutes({ ...asking, redacting, signals, limits, telemetry, readings: readingsOf(config) }))
  app.route('/', trajectoryRoutes({ ...asking, trajectories, signals, ...names }))
  app.route('/', sessionRoutes({ ...asking, ...names, keys }))
  app.route('/', keyRoutes({ ...asking, ...names, keys }))
  app.route('/', subjectRoutes({ ...asking, trajectories, onErased }))
  app.route('/', releaseRoutes({ ...asking, ...releases, store, redact: (text) => redaction.redact(text).value }))
  app.route('/', auditRoutes({ ...asking, ...names, store, redact: (text) => redaction.redact(text).value }))
  app.route('/', auditSignals({ ...asking, store, paidBy: paidByOf(config) }))
  app.route('/', observeRoutes({ door, keys, telemetry, tenant, checks }))
  return app
}

const redactingBy = (redaction: Redaction): Redacting => ({
  redact: redactedBy(redaction),
  redactName: (name, tenant) => redactName(name, tenant, redaction),
  redactId: (id) => redactId(id, redaction).value,
})

/** A number that is a signal's value is a measurement, whatever it looks like. */
function redactedBy(redaction: Redaction): (value: Json) => Json {
  if (!redaction.active) return (value) => value
  return (value) => (typeof value === 'number' ? value : redactJson(value, redaction).value)
}
