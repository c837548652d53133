import type { ModelService, ParameterName } from '../core/index.ts'
import { type Agent, weightsOf } from './agent.ts'
import { AgentError } from './errors.ts'

/** Which model answers for which of an agent's weights: one of the two, and neither for an agent without weights. */
export interface GivenModels {
  /** Answers for the agent's weights, where one Parameter holds them all. */
  readonly model?: ModelService
  /** What answers for each Parameter of weights, by its name. One service may answer for several on its base. */
  readonly models?: Readonly<Record<ParameterName, ModelService>>
}

/** What answers for each of an agent's weights, by the Parameter. */
export type Models = ReadonlyMap<ParameterName, ModelService>

/**
 * What answers for each of an agent's weights.
 * @param missing the error for weights that no model is given for.
 * @throws AgentError for both options at once, a name that is no Parameter of weights, and one model for several of them.
 */
export function modelsOf(
  agent: Agent,
  { model, models }: GivenModels,
  missing: (parameter: ParameterName) => Error,
): Models {
  const parameters = weightsOf(agent)
  if (model && models) {
    throw new AgentError({
      code: 'agent/model-and-models',
      message: 'Both `model` and `models` are given.',
      hint: 'Give `model` to an agent with one Parameter of weights, and `models` to one with several.',
    })
  }
  const [unknown] = Object.keys(models ?? {}).filter((name) => !parameters.includes(name))
  if (unknown !== undefined) {
    throw new AgentError({
      code: 'agent/no-such-weights',
      message: `\`models\` names "${unknown}"; the weights of the agent "${agent.name}" are ${quoted(parameters) || 'none'}.`,
      hint: 'Name Parameters that are declared with weights(…). Writers are given to the optimizer that asks them, and judges to the rubric, or to `learn` as `judge`.',
    })
  }
  if (model && parameters.length > 1) {
    throw new AgentError({
      code: 'agent/several-weights',
      message: `One \`model\` is given, and the agent "${agent.name}" has ${parameters.length} Parameters of weights: ${quoted(parameters)}.`,
      hint: 'Give `models`: what answers for each of them, by its name. It may be the same service.',
    })
  }
  return new Map(
    parameters.map((parameter) => {
      const service = model ?? (models && Object.hasOwn(models, parameter) ? models[parameter] : undefined)
      if (!service) throw missing(parameter)
      return [parameter, service]
    }),
  )
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')
