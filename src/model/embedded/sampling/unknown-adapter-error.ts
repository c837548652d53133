import { InputError } from '../../../errors/index.ts'

/** An adapter reference that this sampler did not issue, or has unloaded. */
export class UnknownAdapterError extends InputError {
  constructor(id: string) {
    super({
      code: 'model/unknown-adapter',
      message: `This sampler holds no adapter "${id}".`,
      hint: 'Use a reference that this engine returned (publish, loadAdapter) and that was not unloaded.',
    })
  }
}
