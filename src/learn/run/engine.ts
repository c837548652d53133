import type { Agent } from '../../agent/index.ts'
import { LearnError } from '../errors.ts'
import type { RunOptions } from '../options.ts'
import { otherBase } from './base.ts'

/** Holds, before anything is written, that the model is the agent's, and can do what the mode promises. */
export function refuseOtherEngine(
  agent: Agent,
  { model, deterministic = false }: Pick<RunOptions, 'model' | 'deterministic'>,
): void {
  for (const [name, definition] of Object.entries(agent.parameters)) {
    if (definition.kind === 'weights' && definition.base !== model.base) {
      throw otherBase(`"${name}" is declared on base "${definition.base}"`, definition.base, model.base)
    }
  }
  if (deterministic && !model.sampler.capabilities.deterministic) {
    throw new LearnError({
      code: 'learn/not-deterministic',
      message: `A deterministic run needs an engine that is deterministic, and "${model.base}" was not opened so.`,
      hint: 'Open the model with deterministic: true.',
    })
  }
}
