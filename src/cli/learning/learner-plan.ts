import { type Agent, servedAgent, text, weights } from '../../agent/index.ts'
import { type Embedder, parseInput, type Tenant } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import {
  type AgentConfig,
  declaredMemory,
  drawsTokens,
  embedderOf,
  memoryParameter,
  ServeConfig,
  toolParameter,
  type UpstreamConfig,
} from '../../gateway/index.ts'
import { LearnFromTrafficConfig, type TrafficLearnerParts } from '../../learn/index.ts'
import { caseUtility } from '../../optimize/memory/index.ts'
import type { ModelPlace } from '../open-model.ts'
import { readConfig } from '../read-config.ts'
import { gatewayConfig } from '../setup/gateway-config.ts'

/** What says that a learner is wanted, and how. */
export interface LearnerFlags {
  readonly config?: string
  readonly agent?: string
  readonly every?: string
  readonly minEpisodes?: number
}

/** Who learns, from what, and with which model. */
export interface LearnerPlan {
  readonly agent: Agent
  readonly tenant: Tenant
  readonly config: LearnFromTrafficConfig
  /** Whether the agent has all Parameters that the gateway declares: without a trainer it lacks the weights. */
  readonly declares: boolean
  /** What learns beside weights. */
  readonly optimize: Required<TrafficLearnerParts>['optimize']
  /** The model that answers the agent, which is the one that is trained; `null` where none is. */
  readonly model: (ModelPlace & Pick<UpstreamConfig, 'keyEnv'>) | null
}

/**
 * What `ratchet learn --agent` is to learn: the agent's section `learn` in the gateway's configuration file, and over it the
 * flags.
 * @throws InputError when there is no such agent, or nothing here can train what answers it.
 */
export async function learnerPlan(flags: LearnerFlags): Promise<LearnerPlan> {
  const serve = await readConfig(ServeConfig, gatewayConfig(flags.config), 'docs/online.md')
  const agent = agentOf(serve, flags.agent)
  const { every, minEpisodes } = flags
  const asked = {
    ...(every === undefined ? {} : { every }),
    ...(minEpisodes === undefined ? {} : { minEpisodes }),
  }
  const said = parseInput(LearnFromTrafficConfig, asked, 'The flags')
  const learn = {
    ...(agent.learn ?? said),
    ...(every === undefined ? {} : { every: said.every }),
    ...(minEpisodes === undefined ? {} : { minEpisodes: said.minEpisodes }),
  }
  return planOf(serve, agent, learn)
}

/**
 * Those agents of a gateway that are to learn while it serves.
 * @throws InputError when nothing here can train what answers one of them.
 */
export function servedLearners(serve: ServeConfig): Promise<readonly LearnerPlan[]> {
  return Promise.all(serve.agents.flatMap((agent) => (agent.learn ? [planOf(serve, agent, agent.learn)] : [])))
}

async function planOf(serve: ServeConfig, agent: AgentConfig, config: LearnFromTrafficConfig): Promise<LearnerPlan> {
  const tenant = agent.tenant ?? serve.tenant
  const upstream = config.trainer === 'none' ? null : trainableUpstream(serve, agent)
  const embedder = agent.memory ? await embedderOf(agent.memory) : null
  const learns = {
    agent: declared(agent, upstream?.model ?? null, embedder),
    tenant,
    config,
    declares: upstream !== null,
    optimize: agent.memory && embedder ? { [memoryParameter]: caseUtility({ ...agent.memory, embedder }) } : {},
  }
  if (upstream === null) return { ...learns, model: null }
  const { model, renderer, precision, server, keyEnv } = upstream
  return { ...learns, model: { model, renderer, precision, ...(server && { server, keyEnv }) } }
}

function agentOf({ agents }: ServeConfig, name: string | undefined): AgentConfig {
  const found = name === undefined && agents.length === 1 ? agents[0] : agents.find((agent) => agent.name === name)
  if (found) return found
  const known = agents.map((agent) => `"${agent.name}"`).join(', ') || 'none'
  throw new InputError({
    code: 'input/unknown-agent',
    message:
      name === undefined
        ? `The configuration has several agents, or none: ${known}.`
        : `There is no agent "${name}" in the configuration.`,
    hint: `Name one with --agent, and list it under "agents" in the file of --config. Known: ${known}.`,
  })
}

/** The upstream that answers the agent: the first, as the gateway asks them in their order. */
function trainableUpstream({ upstreams }: ServeConfig, { name }: AgentConfig): UpstreamConfig {
  const [first] = upstreams
  if (first && drawsTokens(first)) return first
  throw new InputError({
    code: 'input/not-trainable',
    message: `The agent "${name}" is answered by ${first?.url ?? 'nothing'}, and only the embedded engine and a Tinker server can train here.`,
    hint: 'For a memory, and for canaries of texts, set "trainer": "none" in its section "learn". To train it, put an upstream with the url "embedded" or "tinker" first, or use startLearner, which takes any trainer.',
  })
}

/** @param base the model that is trained; `null` where none is. */
function declared({ name, rank, system, tools }: AgentConfig, base: string | null, embedder: Embedder | null): Agent {
  const texts = Object.entries(tools).map(([tool, description]) => [toolParameter(tool), text(description)] as const)
  return servedAgent({
    name,
    parameters: {
      ...(base !== null && { model: weights({ base, rank }) }),
      ...(embedder && { [memoryParameter]: declaredMemory(embedder) }),
      ...(system === undefined ? {} : { system: text(system) }),
      ...Object.fromEntries(texts),
    },
  })
}
