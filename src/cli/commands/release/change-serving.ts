import { z } from 'zod'
import { defaultTenant, parseInput, type Store } from '../../../core/index.ts'
import { InputError, RatchetError } from '../../../errors/index.ts'
import { agentState, type AgentState, nameWithin, Registry, UnknownAgentError } from '../../../release/index.ts'
import { LockedStoreError } from '../../../store/index.ts'
import { askGateway } from '../../gateway/ask-gateway.ts'
import { type GatewayFlags, gatewayOf } from '../../gateway/gateway-url.ts'
import { withStore } from '../../with-store.ts'
import { type AgentFlags, agentOf, onlyOne } from './agent.ts'

export interface ChangeFlags extends AgentFlags, GatewayFlags {}

const State = z.looseObject({
  agent: z.string(),
  serving: z.string(),
  generation: z.number(),
  since: z.number(),
  pin: z.looseObject({ reason: z.string() }).nullable(),
  canary: z.looseObject({ id: z.string() }).nullable(),
})

/** What a change leads to, as the gateway answers it. */
export const Changed = z.looseObject({
  agent: State,
  canary: z.looseObject({ id: z.string(), status: z.string(), share: z.number() }).nullable().optional(),
  watched: z.boolean().optional(),
  newTools: z.array(z.string()).optional(),
  pinned: z.boolean().optional(),
})
export type Changed = z.infer<typeof Changed>

/** One change of what serves, both ways. */
export interface Change {
  /** The command, as a person types it, for what they are told to do next. */
  readonly command: string
  /** What it does to the store; answers like the gateway's route. */
  readonly direct: (registry: Registry, agent: string, store: Store) => Promise<Omit<Changed, 'agent'>>
  /** The last part of the gateway's route, and what is posted to it. */
  readonly route: string
  readonly body: object
}

/** What was changed, and by whom. */
export interface Outcome {
  readonly changed: Changed
  /** The gateway that did it; `null` where the store was written directly. */
  readonly through: string | null
}

/**
 * Changes what serves: in the store itself, or through the gateway that is its one writer. A gateway is asked when one is
 * named; and by itself when the store is locked: the one that writes it, or the one at the usual address if it serves this
 * very store.
 * @throws InputError and what the change throws.
 */
export async function changeServing(flags: ChangeFlags, change: Change): Promise<Outcome> {
  if (flags.url !== undefined) return throughGateway(flags, flags.agent ?? null, change)
  try {
    return await withStore(flags, 'write', async (store) => {
      const agent = await agentOf(store, flags)
      const result = await change.direct(new Registry(store), agent, store)
      return { changed: { ...result, agent: { ...(await stateIn(store, agent)) } }, through: null }
    })
  } catch (error) {
    if (!(error instanceof LockedStoreError)) throw error
    const state = await withStore(flags, 'read', async (store) => stateIn(store, await agentOf(store, flags)))
    await assertSameStore(flags, state, change, error)
    return throughGateway(flags, nameOf(state.agent), change)
  }
}

/** Changes what serves through a gateway. @param agent its name there; `null` for the only one. */
export async function throughGateway(
  flags: ChangeFlags,
  agent: string | null,
  { route, body }: Pick<Change, 'route' | 'body'>,
): Promise<Outcome> {
  const name =
    agent ??
    onlyOne(
      (await statesAt(flags)).map((state) => state.agent),
      'The gateway',
    )
  const gateway = gatewayOf(flags)
  const answer = await askGateway(gateway, `/ratchet/agents/${encodeURIComponent(name)}/${route}`, body)
  return { changed: parseInput(Changed, answer, "The gateway's answer"), through: gateway.url }
}

async function statesAt(flags: GatewayFlags): Promise<readonly z.infer<typeof State>[]> {
  const answer = await askGateway(gatewayOf(flags), '/ratchet/agents')
  return parseInput(z.looseObject({ agents: z.array(State) }), answer, "The gateway's answer").agents
}

async function stateIn(store: Store, agent: string): Promise<AgentState> {
  const state = await agentState(store, agent)
  if (!state) throw new UnknownAgentError(agent)
  return state
}

/** The agent's own name: the gateway knows the tenant by the key. */
function nameOf(key: string): string {
  return nameWithin(defaultTenant, key) ?? key.slice(key.indexOf('/') + 1)
}

/** Holds that the gateway writes this store: another one must not be changed in its place. */
async function assertSameStore(
  flags: ChangeFlags,
  { agent, serving, generation, since }: AgentState,
  { command }: Change,
  locked: LockedStoreError,
): Promise<void> {
  const refuse = (why: string, cause: unknown) =>
    new InputError({
      code: 'input/store-in-use',
      message: `${locked.message} ${why}`,
      hint: `If that is a gateway, name it: ${command} --agent ${nameOf(agent)} --url http://HOST:PORT --key KEY, with a key of the scope admin. Else wait for it to end.`,
      cause,
    })
  let states
  try {
    states = await statesAt(flags)
  } catch (error) {
    if (RatchetError.is(error)) throw refuse(error.message, error)
    throw error
  }
  const same = states.some((state) => {
    return (
      state.agent === nameOf(agent) &&
      state.serving === serving &&
      state.generation === generation &&
      state.since === since
    )
  })
  if (!same) throw refuse(`The gateway at ${gatewayOf(flags).url} serves another store.`, locked)
}
