import { randomBytes } from 'node:crypto'
import {
  type ActsInEpisode,
  type Agent,
  bindingsOf,
  defaultBudget,
  type EpisodeBudget,
  type GivenModels,
  initialVersions,
  type Models,
  modelsOf,
  runEpisode,
} from '../../agent/index.ts'
import {
  type AdapterRef,
  agentKey,
  type Assignment,
  type Clock,
  defaultTenant,
  type Environment,
  GroupId,
  type ParameterName,
  parseInput,
  seedOf,
  type Store,
  systemClock,
  type Task,
  TaskId,
  Tenant,
  type Trajectory,
  TrajectoryId,
  type Version,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { Registry } from '../registry.ts'
import { openReleaseRouter, type ReleaseRouter } from '../router.ts'
import { withoutModel } from './errors.ts'
import { LoadedAdapters } from './loaded-adapters.ts'
import { recordedSession } from './recorded-session.ts'
import { AskedSession, type SessionRequest } from './session-request.ts'

/** What an agent needs in production. */
export interface DeployOptions extends GivenModels {
  readonly store: Store
  /** Opens what a session works in: its tools, on what was asked. */
  readonly environment: Environment
  readonly tenant?: Tenant
  /** Of one session's weights. */
  readonly budget?: EpisodeBudget
  /** Of its weights. Default 1: what is sampled so can be learned from. */
  readonly temperature?: number
  /** How often it asks the store whether another release serves, in milliseconds. */
  readonly everyMs?: number
  readonly clock?: Clock
}

/** A program in production. */
export interface Deployment {
  /**
   * Runs one session with what serves, or with a canary's candidate where it is drawn, and records it as traffic of the
   * agent: signals about its id are evidence, and `learn` over `traffic` learns from it.
   * @returns the trajectory as it was recorded, once it is committed. A failure inside it is its stop reason.
   * @throws InputError that names what is wrong with the request, before anything runs. DeploymentError for a session that
   * holds what nobody could read again: it is not recorded.
   */
  run(request: SessionRequest): Promise<Trajectory>
  /** Stops following the store, and unloads adapters. Sessions under way must have ended. */
  close(): Promise<void>
}

/**
 * Puts an agent's program into production: each session runs with the Versions that serve, and is recorded as traffic. It
 * gets its initial release in the store, if it has no other.
 * @throws DeploymentError for weights without a model; AgentError for models that are not its weights'; InputError for a tenant that cannot be; InitialChangedError for an
 * agent that began in this store as another; KindError for an initial value that its Kind refuses.
 */
export async function deploy(agent: Agent, options: DeployOptions): Promise<Deployment> {
  const { store, clock = systemClock } = options
  const tenant = parseInput(Tenant, options.tenant ?? defaultTenant, 'the tenant')
  const models = modelsOf(agent, options, (parameter) => withoutModel(agent.name, parameter))
  const key = agentKey(tenant, agent.name)
  const initial = initialVersions(agent, (_, parameter) => present(models.get(parameter), 'the model').baseHash)
  await new Registry(store).initial(key, [...initial.values()], clock.now())
  const { everyMs } = options
  const router = await openReleaseRouter({ store, agents: [key], clock, ...(everyMs === undefined ? {} : { everyMs }) })
  return new RoutedDeployment(agent, key, { ...options, models, tenant, clock, initial }, router)
}

type Complete = Omit<DeployOptions, keyof GivenModels> & {
  readonly models: Models
  readonly tenant: Tenant
  readonly clock: Clock
  /** The Versions that the agent is declared with. */
  readonly initial: Assignment['versions']
}

class RoutedDeployment implements Deployment {
  readonly #agent: Agent
  readonly #key: string
  readonly #options: Complete
  readonly #router: ReleaseRouter
  /** Of each of its weights. */
  readonly #adapters: ReadonlyMap<ParameterName, LoadedAdapters>

  constructor(agent: Agent, key: string, options: Complete, router: ReleaseRouter) {
    this.#agent = agent
    this.#key = key
    this.#options = options
    this.#router = router
    const { models, store } = options
    this.#adapters = new Map([...models].map(([name, model]) => [name, new LoadedAdapters(model, store.blobs)]))
  }

  async run(request: SessionRequest): Promise<Trajectory> {
    const { environment, clock, store, tenant, initial } = this.#options
    const { instruction, data, session, subject, train, signal } = parseInput(
      AskedSession,
      request,
      'the request of a session',
    )
    const id = TrajectoryId.parse(`t_${randomBytes(12).toString('hex')}`)
    const owner = { key: openKey, subject }
    const served = present(this.#router.assign(this.#key, id, null, owner), `what serves ${this.#key}`)
    // A release of before a Parameter was declared names none of it, and may serve again: then it acts as it is declared.
    const assigned = { ...served, versions: new Map([...initial, ...served.versions]) }
    const task: Task = { id: TaskId.parse(`traffic:${id}`), instruction, data, split: 'train' }
    const seed = seedOf(id)
    const trajectory = await this.#withWeights(assigned, (adapters) =>
      runEpisode({
        id,
        agent: this.#agent,
        environment,
        task,
        group: GroupId.parse(id),
        attempt: 0,
        seed,
        bindings: bindingsOf(this.#agent, {
          ...this.#actsIn(assigned, adapters, seed, signal),
          audience: { tenant, subject, at: clock.now() },
        }),
        now: () => clock.now(),
        transcribe: false,
        ...(signal && { signal }),
      }),
    )
    const { servedBy } = assigned
    const whose = { tenant, key: openKey, session, agent: this.#agent.name, subject }
    await store.traffic.append(recordedSession(trajectory, { kind: 'traffic', ...whose, train, servedBy }))
    return present(await store.trajectories.get(id), `the session ${id}`).trajectory
  }

  async close(): Promise<void> {
    await this.#router.close()
    await Promise.all([...this.#adapters.values()].map((adapters) => adapters.close()))
  }

  /** Works with the adapters of the weights that serve the session. */
  #withWeights<T>({ versions }: Assignment, work: (adapters: Adapters) => Promise<T>): Promise<T> {
    const load = (left: readonly (readonly [ParameterName, LoadedAdapters])[], loaded: Adapters): Promise<T> => {
      const [first, ...others] = left
      if (!first) return work(loaded)
      const [name, adapters] = first
      const version = present(versions.get(name), `what serves of ${name}`)
      return adapters.use(version, (adapter) => load(others, new Map([...loaded, [name, adapter]])))
    }
    return load([...this.#adapters], new Map())
  }

  #actsIn(
    { versions, generation }: Assignment,
    adapters: Adapters,
    seed: number,
    signal: AbortSignal | undefined,
  ): ActsInEpisode {
    const { models, budget = defaultBudget, temperature = 1, clock } = this.#options
    const inForceOf = ({ id }: Version) => ({ version: id, generation, checkpoint: null })
    return {
      seed,
      values(name) {
        const version = versions.get(name)
        return version && { value: version.value, inForce: inForceOf(version) }
      },
      weights(name) {
        const [model, version] = [models.get(name), versions.get(name)]
        if (!model || !version) return null
        return {
          inForce: inForceOf(version),
          sampler: model.sampler,
          renderer: model.renderer,
          adapter: adapters.get(name) ?? null,
          sampling: { temperature },
          budget,
          seed,
          now: () => clock.now(),
          ...(signal && { signal }),
        }
      },
    }
  }
}

/** Adapters by their Parameter; `null` is the base model exactly. */
type Adapters = ReadonlyMap<ParameterName, AdapterRef | null>

/** Sessions of a program come through no gateway, and by no API key. */
const openKey = 'open'
