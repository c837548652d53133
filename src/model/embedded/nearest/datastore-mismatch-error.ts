import { InputError } from '../../../errors/index.ts'

/** A datastore of other weights than those that would search it: its keys and their states have nothing in common. */
export class DatastoreMismatchError extends InputError {
  constructor(problem: string) {
    super({
      code: 'model/datastore-mismatch',
      message: `This datastore was computed by other weights: ${problem}`,
      hint: 'Build it again from its text, with the model and the adapter that are to use it.',
    })
  }
}
