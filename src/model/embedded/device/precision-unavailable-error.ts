import { InputError } from '../../../errors/index.ts'

/** Products of 8 bits were asked for where there are none. */
export class PrecisionUnavailableError extends InputError {
  constructor(why: string) {
    super({
      code: 'model/precision-unavailable',
      message: `The precision "int8" cannot be used here: ${why}.`,
      hint: 'Set precision to "float32" or "auto". Resume a run that began in "int8" on the cpu of a machine that has it.',
    })
  }
}
