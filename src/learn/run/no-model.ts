import type { ModelService } from '../../core/index.ts'
import { LearnError } from '../errors.ts'

/** No model was given, and something has to be said by one. */
export const withoutModel = (): LearnError =>
  new LearnError({
    code: 'learn/no-model',
    message: 'The agent has weights, and no model was given to answer with them.',
    hint: 'Give `model`: the base that the agent declares.',
  })

const refuse = (): never => {
  throw withoutModel()
}

/** Stands where a model would, for an agent that has no weights: whoever asks it all the same is refused. */
export const noModel: ModelService = {
  base: '',
  baseHash: '',
  get sampler() {
    return refuse()
  },
  get renderer() {
    return refuse()
  },
  trainer: () => Promise.reject(withoutModel()),
  loadAdapter: () => Promise.reject(withoutModel()),
  close: async () => {},
}
