import { StoreError } from './store-error.ts'

/** A record that is written once exists already, with other content. */
export class RecordConflictError extends StoreError {
  constructor(what: string) {
    super({
      code: 'store/record-conflict',
      message: `There is a different ${what} already.`,
      hint: 'Such a record is written once: give the new one an id of its own.',
    })
  }
}

/** The record to change, or to go on from, does not exist. */
export class UnknownRecordError extends StoreError {
  constructor(what: string) {
    super({
      code: 'store/unknown-record',
      message: `There is no ${what}.`,
      hint: 'Check its name: it was never written, or was removed.',
    })
  }
}

/** A record names another one (its run, its receipt, its release) that does not exist. */
export class UnknownReferenceError extends StoreError {
  constructor(cause?: unknown) {
    super({
      code: 'store/unknown-reference',
      message: 'A record names a run, receipt or release that is not in the store.',
      hint: 'Write the record that is named first, or both in one transaction.',
      cause,
    })
  }
}

/** A value that JSON cannot hold: it would come back as something else. */
export class UnstorableValueError extends StoreError {
  constructor(what: string, path: string, value: string) {
    super({
      code: 'store/unstorable-value',
      message: `The ${what} cannot be stored: ${path} is ${value}.`,
      hint: 'Records hold JSON: finite numbers, strings, booleans, null, plain arrays and objects. Large arrays are blobs.',
    })
  }
}

/** An activation does not follow the latest one of its agent: something else was activated meanwhile. */
export class GenerationConflictError extends StoreError {
  constructor(agent: string, generation: number, latest: number) {
    super({
      code: 'store/generation-conflict',
      message: `Generation ${generation} of agent ${agent} cannot be activated: the latest is ${latest}.`,
      hint: 'Another process activated a release meanwhile: look at what serves now, and decide again.',
    })
  }
}
