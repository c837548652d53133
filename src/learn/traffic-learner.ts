import { type Agent, weightsOf } from '../agent/index.ts'
import {
  agentKey,
  type Clock,
  type ModelService,
  type ParameterName,
  type Store,
  systemClock,
  type Tenant,
  type TrainingMethod,
} from '../core/index.ts'
import type { Gate } from '../gate/index.ts'
import { policyGradient } from '../optimize/weights/index.ts'
import { type DriftConfig, Registry } from '../release/index.ts'
import { trafficRubric } from '../reward/index.ts'
import { auditing } from './audit/auditing.ts'
import type { AuditVerifier } from './audit/verifier.ts'
import { canaryGateFrom, canaryLook } from './canary-look.ts'
import type { LearnEvent } from './events.ts'
import { learn } from './learn.ts'
import { driftObserver } from './drift-observer.ts'
import type { LearnerEvent } from './learner/events.ts'
import { listener } from './learner/listener.ts'
import type { LearnerOptions } from './learner.ts'
import type { AnyOptimizer, Change, TrafficOptions } from './options.ts'
import { canary, type ReleasePlan, shadow } from './release-plan.ts'
import { cannotRetire, isRetirement, methodOf } from './run/parameter.ts'
import type { HeldOut, TrafficSource } from './source.ts'
import { behaviourFrom, creditFrom, type LearnFromTrafficConfig } from './source/traffic/config.ts'
import { freshEpisodes } from './source/traffic/fresh.ts'

/** What a learner of an agent's traffic is made of, beside its configuration. */
export interface TrafficLearnerParts {
  /** `servedAgent`: its name as clients give it, and its Parameters. */
  readonly agent: Agent
  readonly tenant: Tenant
  readonly config: LearnFromTrafficConfig
  readonly store: Store
  /**
   * Opens what answers for a Parameter of weights and trains it, for one run; it is closed at the run's end. It is not called
   * with the trainer `none`, nor for an agent without weights.
   */
  readonly openModel: (parameter: ParameterName) => Promise<ModelService>
  /**
   * Optimizers of what learns beside the weights, by the Parameter: what a configuration cannot say. One that it names for the
   * weights is taken instead of the configuration's `policy`.
   */
  readonly optimize?: Readonly<Record<string, AnyOptimizer>>
  /** False where the agent here lacks Parameters that the gateway's has: it is the gateway that declares it. Default true. */
  readonly declares?: boolean
  /** Held-out tasks, where there are some: what a configuration cannot say. */
  readonly evaluation?: {
    readonly gate: Gate
    readonly heldOut: HeldOut
    /** Tasks of what was learned before, by the names that the gate has limits for. */
    readonly suites?: Readonly<Record<string, HeldOut>>
  }
  /** Judges sessions that were drawn for the audit, where that is said to be `by` a `verifier`. */
  readonly verifier?: AuditVerifier
  /** Says what it thinks of sessions, where the audit is said to be `by` a `judge`: for example {@link chatJudge}. */
  readonly judge?: AuditVerifier
  readonly onEvent?: (event: LearnerEvent | LearnEvent) => void
  /** Told of what a verifier throws. */
  readonly onProblem?: (error: unknown) => void
  readonly clock?: Clock
}

/** Which traffic a configuration means. */
export function trafficFrom(
  { window, settle, maxLag, limit, reporters, rubric }: LearnFromTrafficConfig,
  agent: string,
  tenant: Tenant,
): TrafficSource {
  const which = { agent, tenant, window, settle, maxLag, limit }
  return { kind: 'traffic', ...which, evaluation: null, suites: {}, reporters, behaviour: behaviourFrom(rubric) }
}

/**
 * Puts a learner of an agent's traffic together: give it to `startLearner`.
 * @throws LearnError for a Parameter that is to be retired: it would be asked again and again, which spends the held-out tasks.
 */
export function trafficLearner(parts: TrafficLearnerParts): LearnerOptions {
  const { agent, tenant, config, store, openModel, clock = systemClock } = parts
  const key = agentKey(tenant, agent.name)
  const onEvent = listener<LearnEvent>(key, parts.onEvent)
  refuseRetirement(parts.optimize)
  const options = runOptions(parts)
  const parameters = Object.keys(options.optimize)
  const weights = weightsOf(agent)
  const hasWeights = weights.length > 0
  const learns = parameters.length > 0 && !(hasWeights && config.trainer === 'none')
  return {
    store,
    agent: key,
    async learn({ resume, signal, mayWrite, onStarted }) {
      const models: Record<ParameterName, ModelService> = {}
      try {
        for (const parameter of weights) models[parameter] = await openModel(parameter)
        return await learn(agent, {
          ...options,
          ...(hasWeights && { models }),
          signal,
          mayWrite,
          ...(resume === null ? {} : { resume }),
          onEvent(event) {
            if (event.type === 'started') onStarted(event.runId)
            onEvent(event)
          },
        })
      } finally {
        for (const model of Object.values(models)) await model.close()
      }
    },
    fresh: async () => (learns ? freshEpisodes(store, options.source, key, clock.now(), parameters) : 0),
    watch: watching({ ...parts, onEvent }, key),
    ...(config.drift === false ? {} : { observe: observing(parts, config.drift) }),
    alertLagMs: config.judgeAfter,
    everyMs: config.every,
    minEpisodes: config.minEpisodes,
    ...(config.minEpisodesOnDrift === undefined ? {} : { minEpisodesOnDrift: config.minEpisodesOnDrift }),
    watchMs: config.watchEvery,
    leaseMs: config.lease,
    onEvent,
    clock,
  }
}

/** Programs in JavaScript have no compiler that tells. */
function refuseRetirement(optimize: Readonly<Record<string, Change>> = {}): void {
  const [retired] = Object.entries(optimize).flatMap(([name, change]) => (isRetirement(change) ? [name] : []))
  if (retired === undefined) return
  throw cannotRetire(
    `"${retired}" is to be retired by a learner, which asks again at each run: that spends what held-out tasks can show.`,
    `Retire it once, with \`learn\`: \`optimize: { ${retired}: retire() }\`.`,
  )
}

function runOptions({
  agent,
  tenant,
  config,
  store,
  optimize = {},
  declares = true,
  evaluation,
  clock,
}: TrafficLearnerParts): Omit<TrafficOptions, 'model' | 'models'> & Required<Pick<TrafficOptions, 'optimize'>> {
  const source = trafficFrom(config, agent.name, tenant)
  const practised = weightsOf(agent).map((parameter) => [parameter, policyGradient(config.policy)] as const)
  return {
    store,
    source: evaluation ? { ...source, evaluation: evaluation.heldOut, suites: evaluation.suites ?? {} } : source,
    ...(evaluation ? { gate: evaluation.gate } : {}),
    reward: trafficRubric(config.rubric, config.reporters),
    weighed: (factors) => trafficRubric(config.rubric, { ...config.reporters, factors }),
    calibrate: config.calibrate,
    credit: creditFrom(config.credit),
    optimize: { ...Object.fromEntries(practised), ...optimize },
    declares,
    supervised: config.demonstrations,
    preference: config.preferences,
    release: releaseFrom(config),
    method: methodFrom(config, agent),
    schedule: config.schedule,
    seed: config.seed,
    ...(clock ? { clock } : {}),
    config: { learn: config },
  }
}

/** As each Parameter is declared; low-rank pairs are scaled as the configuration says. */
function methodFrom({ adapter }: LearnFromTrafficConfig, agent: Agent) {
  return (parameter: ParameterName): TrainingMethod => {
    const method = methodOf(agent, {}, parameter)
    return method.kind === 'lora' ? { ...method, alpha: adapter.alpha ?? method.alpha } : method
  }
}

/** Who lets a canary's candidate serve everybody. */
const promoterIn = ({ mode }: LearnFromTrafficConfig) => (mode === 'automatic' ? 'gate' : 'hand')

/** How far learning goes by itself. */
function releaseFrom(config: LearnFromTrafficConfig): ReleasePlan {
  if (config.mode === 'shadow') return shadow()
  return canary(canaryGateFrom(config), { promotes: promoterIn(config) })
}

/** Shows the drift detectors what is new. */
function observing({ agent, tenant, config, store, clock }: TrafficLearnerParts, drift: DriftConfig) {
  return driftObserver({
    store,
    agent: agent.name,
    tenant,
    rubric: trafficRubric(config.rubric, config.reporters),
    config: drift,
    judgeAfterMs: config.judgeAfter,
    reporters: config.reporters,
    historyMs: config.driftHistory,
    ...(clock ? { clock } : {}),
  })
}

/** Looks at the canary that runs, if one does, and at those that what serves came from. In the mode `shadow`, one that a run began ends: nobody gets candidates. */
function watching(parts: TrafficLearnerParts, agent: string) {
  const { store, tenant, config, onEvent, clock = systemClock } = parts
  const registry = new Registry(store)
  const audits = auditing(parts, agent, registry)
  const look = canaryLook({ store, tenant, config, clock }, promoterIn(config))
  const lookAtRunning = async () => {
    const running = await registry.runningCanary(agent)
    if (!running) return
    if (config.mode === 'shadow' && running.run !== null) {
      const reasons = ['the mode is "shadow" now: nobody gets candidates']
      const { id, status, reason } = await registry.endCanary(running.id, { reasons, at: clock.now() })
      onEvent?.({ type: 'watched', agent, canary: id, action: null, status, reason, release: null })
      return
    }
    const { verdict, canary: now, release, waits } = await look(running.id)
    // After the look, which keeps the canary serving: a source of truth that fails stops no session.
    if (now.status === 'running') await audits.look(now)
    const action = verdict?.action ?? null
    if (now.status === 'running' && (action === 'wait' || waits !== null)) return
    const { id, status, reason } = now
    onEvent?.({ type: 'watched', agent, canary: id, action, status, reason, release: release?.id ?? null })
  }
  return async () => {
    // Before the canary that runs: where what serves goes back, it ends, as it is compared with what serves.
    await audits.reopen()
    await lookAtRunning()
    await audits.lookAtPromoted()
  }
}
