import { InputError } from '../../../errors/index.ts'

/** A well-formed model whose mathematics the embedded engine does not have. */
export class UnsupportedModelError extends InputError {
  /**
   * @param field the entry of config.json, or the tensor, that cannot be honoured.
   * @param value what it says.
   * @param supported what it may say.
   */
  constructor(field: string, value: unknown, supported: string) {
    super({
      code: 'model/unsupported-architecture',
      message: `The embedded engine cannot run this model: ${field} is ${JSON.stringify(value)}, and supported is ${supported}.`,
      hint: 'Use a dense Llama, Mistral, Qwen2, Qwen3 or Gemma 3 (text) model, for example minimind2-small or SmolLM2; or serve this one with an OpenAI-compatible server.',
    })
  }
}
