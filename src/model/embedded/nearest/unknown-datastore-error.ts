import { InputError } from '../../../errors/index.ts'

/** A datastore reference that this engine did not issue, or has unloaded. */
export class UnknownDatastoreError extends InputError {
  constructor(id: string) {
    super({
      code: 'model/unknown-datastore',
      message: `This engine holds no datastore "${id}".`,
      hint: 'Use a reference that datastores.load of this engine returned and that was not unloaded.',
    })
  }
}
