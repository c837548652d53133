import { StoreError } from './store-error.ts'

/** A call began before its person, or its session, was erased: nothing of it may be written. */
export class ErasedCallError extends StoreError {
  constructor(call: string) {
    super({
      code: 'store/erased',
      message: `The call ${call} is not recorded: the person that it is about, or its session, was erased after it began.`,
      hint: 'Nothing of it was kept. A new request is recorded again.',
    })
  }
}
