import { InputError } from '../../errors/index.ts'

/** An adapter of peft that the embedded engine cannot use. */
export class UnusablePeftError extends InputError {
  /** @param problem ends the sentence "This adapter of peft cannot be used: …". */
  constructor(problem: string, hint: string, cause?: unknown) {
    super({
      code: 'model/unusable-peft-adapter',
      message: `This adapter of peft cannot be used: ${problem}.`,
      hint,
      ...(cause === undefined ? {} : { cause }),
    })
  }
}
