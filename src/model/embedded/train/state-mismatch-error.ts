import { InputError } from '../../../errors/index.ts'

/** Saved weights or training state that do not fit the model or the trainer they are loaded into. */
export class StateMismatchError extends InputError {
  constructor(problem: string) {
    super({
      code: 'model/state-mismatch',
      message: `These saved weights cannot be loaded here: ${problem}`,
      hint: 'Load them with the base model, LoRA rank and targets that they were saved with.',
    })
  }
}
