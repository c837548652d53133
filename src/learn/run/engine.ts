import { type Agent, asWeightsDefinition, weightsOf } from '../../agent/index.ts'
import { LearnError } from '../errors.ts'
import type { Complete, LearnOptions } from '../options.ts'
import { otherBase } from './base.ts'
import { noModel, withoutModel } from './no-model.ts'

/** Holds, before anything is written, that the model is the agent's, and can do what the mode promises. */
export function refuseOtherEngine(
  agent: Agent,
  { model, deterministic = false }: Pick<Complete<LearnOptions>, 'model' | 'deterministic'>,
): void {
  if (weightsOf(agent).length === 0) return
  if (model === noModel) throw withoutModel()
  for (const [name, definition] of Object.entries(agent.parameters)) {
    const { base } = asWeightsDefinition(definition) ?? model
    if (base !== model.base) throw otherBase(`"${name}" is declared on base "${base}"`, base, model.base)
  }
  if (deterministic && !model.sampler.capabilities.deterministic) {
    throw new LearnError({
      code: 'learn/not-deterministic',
      message: `A deterministic run needs an engine that is deterministic, and "${model.base}" was not opened so.`,
      hint: 'Open the model with deterministic: true.',
    })
  }
}
