import { InputError } from '../../errors/index.ts'

/** A message that a renderer's form cannot express: a demonstration to change, never something that a policy sampled. */
export class UnrenderableMessageError extends InputError {
  constructor(problem: string) {
    super({
      code: 'model/unrenderable-message',
      message: `The compact form cannot express this assistant message: ${problem}`,
      hint: 'Give each assistant turn exactly one tool call and no text, or use the template renderer.',
    })
  }
}
