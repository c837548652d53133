import { randomBytes } from 'node:crypto'
import {
  type ActsInEpisode,
  type Agent,
  bindingsOf,
  defaultBudget,
  type EpisodeBudget,
  initialVersions,
  runEpisode,
  weightsOf,
} from '../../agent/index.ts'
import {
  type AdapterRef,
  agentKey,
  type Assignment,
  type Clock,
  defaultTenant,
  type Environment,
  GroupId,
  type ModelService,
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
export interface DeployOptions {
  readonly store: Store
  /** Opens what a session works in: its tools, on what was asked. */
  readonly environment: Environment
  /** Answers for the agent's weights. An agent that has none needs no model. */
  readonly model?: ModelService
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
 * @throws DeploymentError for weights without a model; InputError for a tenant that cannot be; InitialChangedError for an
 * agent that began in this store as another; KindError for an initial value that its Kind refuses.
 */
export async function deploy(agent: Agent, options: DeployOptions): Promise<Deployment> {
  const { store, model, clock = systemClock } = options
  const tenant = parseInput(Tenant, options.tenant ?? defaultTenant, 'the tenant')
  const [parameter] = weightsOf(agent)
  if (parameter !== undefined && !model) throw withoutModel(agent.name, parameter)
  const key = agentKey(tenant, agent.name)
  const initial = initialVersions(agent, () => present(model, 'the model').baseHash)
  await new Registry(store).initial(key, [...initial.values()], clock.now())
  const { everyMs } = options
  const router = await openReleaseRouter({ store, agents: [key], clock, ...(everyMs === undefined ? {} : { everyMs }) })
  return new RoutedDeployment(agent, key, { ...options, tenant, clock, initial }, router)
}

type Complete = DeployOptions & {
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
  readonly #adapters: LoadedAdapters | null

  constructor(agent: Agent, key: string, options: Complete, router: ReleaseRouter) {
    this.#agent = agent
    this.#key = key
    this.#options = options
    this.#router = router
    this.#adapters = options.model ? new LoadedAdapters(options.model, options.store.blobs) : null
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
    const trajectory = await this.#withWeights(assigned, (adapter) =>
      runEpisode({
        id,
        agent: this.#agent,
        environment,
        task,
        group: GroupId.parse(id),
        attempt: 0,
        seed,
        bindings: bindingsOf(this.#agent, {
          ...this.#actsIn(assigned, adapter, seed, signal),
          audience: { tenant, subject, at: clock.now() },
        }),
        now: () => clock.now(),
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
    await this.#adapters?.close()
  }

  /** Works with the adapter of the weights that serve the session; `null` for none, and for an agent without weights. */
  #withWeights<T>({ versions }: Assignment, work: (adapter: AdapterRef | null) => Promise<T>): Promise<T> {
    const version = versions.get(weightsOf(this.#agent)[0] ?? '')
    return version && this.#adapters ? this.#adapters.use(version, work) : work(null)
  }

  #actsIn(
    { versions, generation }: Assignment,
    adapter: AdapterRef | null,
    seed: number,
    signal: AbortSignal | undefined,
  ): ActsInEpisode {
    const { model, budget = defaultBudget, temperature = 1, clock } = this.#options
    const inForceOf = ({ id }: Version) => ({ version: id, generation, checkpoint: null })
    const answering = versions.get(weightsOf(this.#agent)[0] ?? '')
    return {
      seed,
      values(name) {
        const version = versions.get(name)
        return version && { value: version.value, inForce: inForceOf(version) }
      },
      weights:
        model && answering
          ? {
              inForce: inForceOf(answering),
              sampler: model.sampler,
              renderer: model.renderer,
              adapter,
              sampling: { temperature },
              budget,
              seed,
              now: () => clock.now(),
              ...(signal && { signal }),
            }
          : null,
    }
  }
}

/** Sessions of a program come through no gateway, and by no API key. */
const openKey = 'open'
