import { InputError } from '../../errors/index.ts'

/** A message that a renderer's form cannot express: a demonstration to change, never something that a policy sampled. */
export class UnrenderableMessageError extends InputError {
  constructor(problem: string) {
    super({
      code: 'model/unrenderable-message',
      message: `The compact form cannot express this assistant message: ${problem}`,
      hint: 'Give each turn one call and no words, or words of one line; or open the model with `renderer: "template"` (the same key in the configuration of `ratchet learn`): a chat template can express all of these.',
    })
  }
}
