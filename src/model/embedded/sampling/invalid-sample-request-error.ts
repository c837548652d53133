import { InputError } from '../../../errors/index.ts'

/** A request that no sampling can answer: the message says which part of it is wrong. */
export class InvalidSampleRequestError extends InputError {
  constructor(problem: string, hint: string) {
    super({ code: 'model/invalid-sample-request', message: `This cannot be sampled: ${problem}`, hint })
  }
}
