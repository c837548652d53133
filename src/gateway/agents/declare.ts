import type { z } from 'zod'
import {
  agentKey,
  type ChatUpstream,
  mintVersion,
  type ParameterName,
  type Store,
  type Tenant,
  type Version,
  type WeightsValue,
} from '../../core/index.ts'
import { storedValue, textKind } from '../../agent/index.ts'
import { InputError } from '../../errors/index.ts'
import { declaredParameters, Registry } from '../../release/index.ts'
import type { AgentConfig, ServeConfig } from '../config.ts'
import { type AgentMemory, agentMemory, memoryParameter } from './served-memory.ts'

/** The Parameter that a tool's description is. */
export const toolParameter = (tool: string): ParameterName => `tool-${tool}`

/** An agent of the configuration, as it is before it learns. */
export interface DeclaredAgent {
  /** What its releases go by. */
  readonly key: string
  /** Its own name. */
  readonly name: string
  /** The name that its requests ask for its model by. */
  readonly model: string
  readonly base: z.infer<typeof WeightsValue>
  /** `null` where it remembers nothing. */
  readonly memory: AgentMemory | null
  /** The initial Version of each of its Parameters. */
  readonly initial: ReadonlyMap<ParameterName, Version>
  /** Parameters that it was once declared with and is no more: what serves of them is for others. */
  readonly retired: ReadonlySet<ParameterName>
}

export interface DeclareOptions {
  readonly config: Pick<ServeConfig, 'agents' | 'tenant'>
  readonly store: Store
  readonly upstream: Pick<ChatUpstream, 'weights'>
}

/**
 * The agents of a configuration by their {@link agentKey}. Each has a release in the store from then on: as it is declared,
 * where nothing was learned; {@link Registry.initial} says what an edited declaration changes. Asked again, changes nothing.
 * @throws InputError for two of one name, and InitialChangedError for an agent whose model was another one in this store.
 */
export async function declareAgents(options: DeclareOptions): Promise<ReadonlyMap<string, DeclaredAgent>> {
  const { config, store, upstream } = options
  const registry = new Registry(store)
  const agents = new Map<string, Omit<DeclaredAgent, 'retired'>>()
  for (const agent of config.agents) {
    const declared = await declaredAgent(agent, config.tenant, upstream)
    if (agents.has(declared.key)) throw declaredTwice(agent.name)
    agents.set(declared.key, declared)
  }
  const served = new Map<string, DeclaredAgent>()
  for (const [key, agent] of agents) {
    await registry.initial(key, [...agent.initial.values()])
    const once = await declaredParameters(store, key)
    served.set(key, { ...agent, retired: new Set([...once].filter((parameter) => !agent.initial.has(parameter))) })
  }
  return served
}

async function declaredAgent(
  { name, tenant, model, system, tools, memory: remembers }: AgentConfig,
  own: Tenant,
  upstream: DeclareOptions['upstream'],
): Promise<Omit<DeclaredAgent, 'retired'>> {
  const base = { ...upstream.weights(model), adapter: null }
  const memory = remembers ? await agentMemory(remembers) : null
  const mint = (parameter: ParameterName, value: Version['value']) =>
    mintVersion(parameter, value, { parents: [], run: null })
  const versions = [
    mint('model', base),
    ...(memory ? [mint(memoryParameter, memory.initial)] : []),
    ...textsOf({ system, tools }).map(({ parameter, value }) => mint(parameter, value)),
  ]
  const initial = new Map(versions.map((version) => [version.parameter, version]))
  return { key: agentKey(tenant ?? own, name), name, model, base, memory, initial }
}

/** The texts of an agent, with the Parameters that hold them. */
export const textsOf = ({ system, tools }: Pick<AgentConfig, 'tools'> & { readonly system?: string | undefined }) => {
  const texts: readonly (readonly [ParameterName, string])[] = [
    ...(system === undefined ? [] : [['system', system] as const]),
    ...Object.entries(tools).map(([tool, said]) => [toolParameter(tool), said] as const),
  ]
  return texts.map(([parameter, said]) => ({ parameter, value: storedValue(parameter, textKind, { text: said }) }))
}

const declaredTwice = (name: string) =>
  new InputError({
    code: 'input/agent-twice',
    message: `The configuration has two agents called "${name}".`,
    hint: 'Give each agent of a tenant a name of its own.',
  })
