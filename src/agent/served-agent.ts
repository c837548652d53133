import { ParameterName } from '../core/index.ts'
import type { Agent } from './agent.ts'
import { AgentError } from './errors.ts'
import type { ParameterDefinition } from './parameters.ts'

/**
 * An agent whose program is its owner's, and is not known here: it calls the gateway, and what Ratchet has of it are the
 * Parameters that answer. It learns from its traffic; it cannot be run.
 * @param name as its clients give it.
 * @throws AgentError for a Parameter's name that is not an identifier.
 */
export function servedAgent<const P extends Readonly<Record<string, ParameterDefinition>>>({
  name,
  parameters,
}: Pick<Agent<P>, 'name' | 'parameters'>): Agent<P> {
  for (const parameter of Object.keys(parameters)) {
    if (ParameterName.safeParse(parameter).success) continue
    throw new AgentError({
      code: 'agent/bad-name',
      message: `"${parameter}" cannot name a parameter.`,
      hint: 'Use a letter followed by letters, digits, "_" or "-", at most 64 in all; not what every object has, as "constructor".',
    })
  }
  return {
    name,
    parameters,
    run: () => {
      throw new AgentError({
        code: 'agent/served-only',
        message: `The program of the agent "${name}" is its owner's: it cannot be run here.`,
        hint: 'Give an agent made by defineAgent where tasks are to be attempted.',
      })
    },
  }
}
