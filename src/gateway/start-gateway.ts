import {
  type ChatUpstream,
  type Clock,
  type SessionRouter,
  type Store,
  systemClock,
  type VersionId,
} from '../core/index.ts'
import { declareAgents, servedAgents } from './agents/index.ts'
import { anyKey, assertMayServe, doorkeeper, ExpiredKeys, isLoopback } from './auth/index.ts'
import { drawsTokens, type ServeConfig } from './config.ts'
import { bodySpace, createGateway } from './create-gateway.ts'
import { redactId, redactionOf } from './episode/redaction/index.ts'
import { episodeRecorder } from './episode/recorder.ts'
import type { Log } from './log.ts'
import { countRequests, gatewayLogger, gatewayTelemetry, redactedLog } from './observe/index.ts'
import { ratchetRoutes, type RatchetRoutesOptions } from './ratchet-routes.ts'
import { serve, type Listening } from './serve.ts'

/** What a running gateway is made of. */
export interface StartOptions {
  readonly config: ServeConfig
  readonly store: Store
  readonly upstream: ChatUpstream
  /** Says what serves the configuration's agents; `null`, the default: their requests go on as they came. */
  readonly router?: SessionRouter | null
  /** How canaries are judged for who asks to promote one, and whom to tell when what serves was changed here. */
  readonly releases?: RatchetRoutesOptions['releases']
  /** Whether no other process writes the store, as with SQLite. */
  readonly exclusive: boolean
  /** Default: JSON lines on standard output, from the level that `RATCHET_LOG_LEVEL` says. */
  readonly logger?: Log
  readonly clock?: Clock
}

/** A gateway that listens, with its recorder. */
export interface RunningGateway extends Listening {
  /** Whether it asks for no key. */
  readonly open: boolean
}

/**
 * Starts the gateway: recorder, door, telemetry and routes on one port. Closing it lets calls under way end and commits
 * them; the store and the upstream stay the caller's.
 * @throws InputError when it may not listen there, the port is taken, or a redaction rule is not valid; and what
 * {@link declareAgents} throws.
 */
export async function startGateway(options: StartOptions): Promise<RunningGateway> {
  const { config, store, upstream, exclusive, router = null } = options
  const { clock = systemClock } = options
  await assertMayServe(config, store.keys)
  const redaction = redactionOf(config.redact, {
    kept: namesOfOperator(config),
    onUnread: () => telemetry.metrics.unread.inc(),
  })
  const logger = redactedLog(options.logger ?? gatewayLogger(), redaction)
  const agents = await declareAgents({ config, store, upstream })
  const telemetry = gatewayTelemetry({
    logger,
    load: () => upstream.load?.() ?? [],
    nameAsTold: (name) => redactId(name, redaction).value,
  })
  const recorder = episodeRecorder({
    agents: servedAgents(agents, router, upstream),
    onFallBack: ({ name }, { servedBy }, err) => {
      telemetry.metrics.fallBacks.inc({ agent: name })
      logger.error({ err, canary: servedBy.canary?.id }, 'a candidate cannot be served: its session gets the release')
    },
    onNoRecall: onceEach((err) => {
      logger.error({ err }, 'nothing can be recalled from a memory: requests go on without')
    }),
    store,
    config,
    mode: config.record,
    redaction,
    weightsOf: (name, model) => upstream.weights(model, name),
    ownDefaults: (name) => !config.upstreams.some((one) => one.name === name && drawsTokens(one)),
    exclusive,
    onProblem: (err) => logger.warn({ err }, 'a record could not be kept up'),
    clock,
  })
  const expiredKeys = new ExpiredKeys({
    keys: store.keys,
    clock,
    onProblem: (err) => logger.warn({ err }, 'expired keys could not be removed'),
  })
  const closeParts = async () => {
    await recorder.close()
    await expiredKeys.close()
  }
  try {
    const door = doorkeeper({ keys: store.keys, config, clock })
    const bodies = bodySpace(config)
    const asking = { store, config, door, telemetry, bodies, redaction }
    const { releases = {} } = options
    const onErased = () => {
      recorder.forget()
      door.forgetAll()
    }
    const routes = [ratchetRoutes({ ...asking, releases, onErased, clock })]
    const gateway = createGateway({
      config,
      upstream,
      recorder,
      doorkeeper: door,
      telemetry,
      routes,
      around: countRequests(telemetry.metrics),
      logger,
      bodies,
      clock,
    })
    const open = config.auth === 'auto' && isLoopback(config.host) && !(await anyKey(store.keys))
    const served = await serve(gateway, config)
    return {
      ...served,
      open,
      async close() {
        await served.close()
        await closeParts()
      },
    }
  } catch (error) {
    await closeParts()
    throw error
  }
}

/** Tells of a problem unless the last one of its Version said the same. */
function onceEach(tell: (problem: unknown) => void): (version: VersionId, problem: unknown) => void {
  const last = new Map<VersionId, string>()
  return (version, problem) => {
    const said = String(problem)
    if (last.get(version) !== said) tell(problem)
    last.set(version, said)
  }
}

/** Names in the configuration: no client makes them up, and what they name is found by them. */
function namesOfOperator({ agents, upstreams }: ServeConfig): ReadonlySet<string> {
  return new Set([
    ...agents.flatMap(({ name, model }) => [name, model]),
    ...upstreams.flatMap(({ model, models }) => [model, ...Object.entries(models).flat()]),
  ])
}
