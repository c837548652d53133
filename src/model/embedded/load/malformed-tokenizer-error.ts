import { InputError } from '../../../errors/index.ts'

/** A tokenizer.json that is not one, or one whose kind is not supported. */
export class MalformedTokenizerError extends InputError {
  constructor(problem: string, cause?: unknown) {
    super({
      code: 'model/malformed-tokenizer',
      message: `The tokenizer cannot be used: ${problem}`,
      hint: 'Use a model whose tokenizer is BPE of bytes (Llama, SmolLM, Qwen, Gemma 3, MiniMind).',
      cause,
    })
  }
}
