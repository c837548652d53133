import { InputError } from '../../../errors/index.ts'

/** A soft prompt that cannot be trained: the message says what of it is wrong. */
export class InvalidSoftPromptError extends InputError {
  constructor(problem: string) {
    super({
      code: 'model/invalid-soft-prompt',
      message: `This soft prompt cannot be trained: ${problem}`,
      hint: 'Give it at least one vector, and fewer than the context has positions; `initial` is a text, or tokens of the model.',
    })
  }
}
