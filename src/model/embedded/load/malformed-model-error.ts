import { InputError } from '../../../errors/index.ts'

/** A model folder whose parts are missing, unreadable, or disagree with each other. */
export class MalformedModelError extends InputError {
  constructor(problem: string, cause?: unknown) {
    super({
      code: 'model/malformed-model',
      message: problem,
      hint: 'Take config.json, the weights and tokenizer.json from one and the same checkpoint.',
      cause,
    })
  }
}
