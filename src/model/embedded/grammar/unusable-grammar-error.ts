import { InputError } from '../../../errors/index.ts'

/** A grammar to which this model cannot be held: the message says which part of it, and why. */
export class UnusableGrammarError extends InputError {
  constructor(problem: string, hint: string) {
    super({ code: 'model/unusable-grammar', message: `The answer cannot be held to this form: ${problem}`, hint })
  }
}
