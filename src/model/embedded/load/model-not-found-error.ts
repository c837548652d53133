import { InputError } from '../../../errors/index.ts'

/** A reference to a model that leads nowhere. */
export class ModelNotFoundError extends InputError {
  constructor(message: string, hint: string, cause?: unknown) {
    super({ code: 'model/not-found', message, hint, cause })
  }
}
