import { InputError } from '../../../errors/index.ts'

/** Saved weights or training state that do not fit the model or the trainer they are loaded into. */
export class StateMismatchError extends InputError {
  constructor(problem: string) {
    super({
      code: 'model/state-mismatch',
      message: `These saved weights cannot be loaded here: ${problem}`,
      hint: 'Load them with the base model and the settings that they were saved with: rank and targets of a LoRA, length of a soft prompt, layer and neighbours of a memory in attention.',
    })
  }
}
