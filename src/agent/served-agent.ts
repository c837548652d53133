import type { Agent } from './agent.ts'
import { defineAgent } from './agent.ts'
import { AgentError } from './errors.ts'
import type { ParameterDefinition } from './parameters.ts'

/**
 * An agent whose program is its owner's, and is not known here: it calls the gateway, and what Ratchet has of it are the
 * Parameters that answer. It learns from its traffic; it cannot be run.
 * @throws AgentError for a name that is not an identifier.
 */
export function servedAgent<const P extends Readonly<Record<string, ParameterDefinition>>>({
  name,
  parameters,
}: Pick<Agent<P>, 'name' | 'parameters'>): Agent<P> {
  return defineAgent({
    name,
    parameters,
    run: () => {
      throw new AgentError({
        code: 'agent/served-only',
        message: `The program of the agent "${name}" is its owner's: it cannot be run here.`,
        hint: 'Give an agent made by defineAgent where tasks are to be attempted.',
      })
    },
  })
}
