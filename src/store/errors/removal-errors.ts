import { StoreError } from './store-error.ts'

/** What was learned names a source that was erased since: it must not come back by a run that was under way. */
export class ErasedSourceError extends StoreError {
  constructor(what: string) {
    super({
      code: 'store/erased-source',
      message: `The ${what} is not stored: it holds something that was learned from a session which has been erased.`,
      hint: 'Run again: it goes on from its last checkpoint, from which that was removed.',
    })
  }
}

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
