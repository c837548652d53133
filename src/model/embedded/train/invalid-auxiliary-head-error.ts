import { InputError } from '../../../errors/index.ts'

/** An auxiliary head of a size that no head can have. */
export class InvalidAuxiliaryHeadError extends InputError {
  constructor(outputs: number) {
    super({
      code: 'model/invalid-auxiliary-head',
      message: `An auxiliary head cannot have ${outputs} outputs.`,
      hint: 'Give a whole number of outputs, 0 or more.',
    })
  }
}
