import { InputError } from '../../../errors/index.ts'

/** Products of 8 bits were asked for where there are none. */
export class PrecisionUnavailableError extends InputError {
  constructor(why: string) {
    super({
      code: 'model/precision-unavailable',
      message: `The precision "int8" cannot be used here: ${why}.`,
      hint: 'Leave precision out, or set it to "float32".',
    })
  }
}
