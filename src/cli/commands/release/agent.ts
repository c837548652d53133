import type { Repositories } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'
import { agentNames } from '../../../release/index.ts'
import type { StoreFlags } from '../../with-store.ts'

export interface AgentFlags extends StoreFlags {
  /** As `ratchet releases` names it: of another tenant than the default one, `tenant/agent`. */
  readonly agent?: string
}

/** The agent that is named, or the only one that there is. @throws InputError where there are others. */
export async function agentOf(store: Pick<Repositories, 'releases'>, { agent }: AgentFlags): Promise<string> {
  return agent ?? onlyOne(await agentNames(store))
}

/** @throws InputError where there is none, or more than one. */
export function onlyOne(agents: readonly string[], where = 'This store'): string {
  const [only] = agents
  if (only !== undefined && agents.length === 1) return only
  throw new InputError({
    code: 'input/which-agent',
    message: agents.length === 0 ? `${where} has no releases.` : `${where} has the agents ${agents.join(', ')}.`,
    hint: agents.length === 0 ? 'Start a run with: ratchet learn' : 'Name one with --agent.',
  })
}
