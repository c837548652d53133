import { RatchetError } from '../../../errors/index.ts'

/** The model gave no probabilities: nothing can be drawn from it. */
export class NonFiniteProbabilitiesError extends RatchetError {
  constructor() {
    super({
      code: 'model/non-finite-probabilities',
      message:
        "The probabilities of the next token are no numbers: the model's weights, or those of its adapter, diverged.",
      hint: 'Sample with weights that were saved before, and train on from those at a lower learning rate.',
    })
  }
}
