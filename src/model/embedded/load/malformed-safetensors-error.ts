import { InputError } from '../../../errors/index.ts'

/** Bytes that are not a valid safetensors file; the message names the tensor and the byte range where there is one. */
export class MalformedSafetensorsError extends InputError {
  readonly problem: string

  /** @param file names the file, where the bytes came from one. */
  constructor(problem: string, { file = 'This', cause }: { file?: string; cause?: unknown } = {}) {
    super({
      code: 'model/malformed-safetensors',
      message: `${file} is not a valid safetensors file: ${problem}.`,
      hint: 'Download or export the file again; a partial download is the usual reason.',
      cause,
    })
    this.problem = problem
  }
}
