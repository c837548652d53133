import { InputError } from '../../errors/index.ts'

/** A chat template that is missing, broken, or cannot be extended turn by turn. */
export class UnusableTemplateError extends InputError {
  constructor(problem: string, cause?: unknown) {
    super({
      code: 'model/unusable-template',
      message: `The model's chat template cannot be used: ${problem}`,
      hint: 'Use the compact renderer, or put a template that only appends into chat_template.jinja.',
      cause,
    })
  }
}
