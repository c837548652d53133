import { InputError } from '../../../../errors/index.ts'

/** A tensor whose numbers are stored in a way that the embedded engine cannot read. */
export class UnsupportedQuantizationError extends InputError {
  /**
   * @param type ggml's number of the type.
   * @param supported the names of those that can be read.
   */
  constructor(tensor: string, type: number, supported: readonly string[]) {
    super({
      code: 'model/unsupported-quantization',
      message: `Tensor ${tensor} is stored as ggml type ${type}, which cannot be read; supported are ${supported.join(', ')}.`,
      hint: 'Take the same model in one of these, for example its Q4_K_M or Q8_0 file, or convert it with llama-quantize.',
    })
  }
}
