import { InputError } from '../../../errors/index.ts'

/** The accumulated gradient overflowed: applying it would destroy the weights. */
export class NonFiniteGradientError extends InputError {
  constructor(norm: number) {
    super({
      code: 'model/non-finite-gradient',
      message: `The accumulated gradient has norm ${norm}, so no step was taken and the gradient was dropped.`,
      hint: "Look for log-probabilities that are not the sampler's (their ratios overflow), or lower the learning rate.",
    })
  }
}
