import { type Agent, asWeightsDefinition, type Models } from '../../agent/index.ts'
import { LearnError } from '../errors.ts'
import type { RunOptions } from '../options.ts'
import { otherBase } from './base.ts'

/** Holds, before anything is written, that the models are the agent's, and can do what the mode promises. */
export function refuseOtherEngine(
  agent: Agent,
  models: Models,
  { deterministic = false }: Pick<RunOptions, 'deterministic'>,
): void {
  for (const [name, model] of models) {
    const { base } = asWeightsDefinition(agent.parameters[name]) ?? model
    if (base !== model.base) throw otherBase(`"${name}" is declared on base "${base}"`, base, model.base)
    if (deterministic && !model.sampler.capabilities.deterministic) {
      throw new LearnError({
        code: 'learn/not-deterministic',
        message: `A deterministic run needs an engine that is deterministic, and "${model.base}" was not opened so.`,
        hint: 'Open the model with deterministic: true.',
      })
    }
  }
}
