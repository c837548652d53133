import { RatchetError } from '../../errors/index.ts'

/** An agent cannot be deployed as it was asked for. */
export class DeploymentError extends RatchetError {}

export const withoutModel = (agent: string, parameter: string): DeploymentError =>
  new DeploymentError({
    code: 'release/no-model',
    message: `The agent "${agent}" has the weights "${parameter}", and no model was given to answer with them.`,
    hint: 'Give `model`: the base that the agent declares.',
  })
