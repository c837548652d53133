import { InputError } from '../../../errors/index.ts'

/** A datastore that cannot be searched: empty, too large, or with parts that do not agree. */
export class InvalidDatastoreError extends InputError {
  constructor(problem: string) {
    super({
      code: 'model/invalid-datastore',
      message: `This datastore cannot be used: ${problem}`,
      hint: 'Build it from 1 to 100,000 tokens of text with this engine, or read a whole file that writeDatastore made.',
    })
  }
}
