import type { ParameterName } from '../../core/index.ts'
import { LearnError } from '../errors.ts'

/** No model was given for weights, and something has to be said by one. */
export const withoutModel = (parameter: ParameterName): LearnError =>
  new LearnError({
    code: 'learn/no-model',
    message: `The agent has the weights "${parameter}", and no model was given to answer with them.`,
    hint: 'Give `model`, the base that the agent declares; or `models`, by the name of each of its weights.',
  })
