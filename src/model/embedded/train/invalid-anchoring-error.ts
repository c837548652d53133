import { InputError } from '../../../errors/index.ts'

/** Nothing to measure importance on, or a strength that cannot be. */
export class InvalidAnchoringError extends InputError {
  constructor(message: string) {
    super({
      code: 'model/invalid-anchoring',
      message,
      hint: 'Measure importance on data that have targets of weight above 0, and hold with a strength of 0 or more.',
    })
  }
}
