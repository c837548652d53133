import { RatchetError } from '../../../errors/index.ts'

/** The accumulated gradient is not finite: applying it would destroy the weights, so that nothing was changed. */
export class NonFiniteGradientError extends RatchetError {
  constructor(norm: number) {
    super({
      code: 'model/non-finite-gradient',
      message: `Training has diverged: the gradient's norm is ${norm}. It was dropped, and the weights are as they were.`,
      hint: "Lower the learning rate or clip the gradient at a smaller norm; log-probabilities that are not the sampler's also overflow.",
    })
  }
}
