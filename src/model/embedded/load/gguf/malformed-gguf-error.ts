import { InputError } from '../../../../errors/index.ts'

/** Bytes that are not a complete, well-formed GGUF file; the message names the field or tensor and where it lies. */
export class MalformedGgufError extends InputError {
  readonly problem: string

  /** @param file names the file, where the bytes came from one. */
  constructor(problem: string, { file = 'This', cause }: { file?: string; cause?: unknown } = {}) {
    super({
      code: 'model/malformed-gguf',
      message: `${file} is not a usable GGUF file: ${problem}.`,
      hint: 'Download the file again and compare its SHA-256 with the one its page states; a partial download is the usual reason.',
      cause,
    })
    this.problem = problem
  }
}
