import { InputError, RatchetError } from '../../errors/index.ts'

/** What was read back from an export says other things than the adapter that was exported. */
export class PeftExportDiffersError extends RatchetError {
  /** @param difference the greatest between two log-probabilities of one token, in nats; NaN where one is no number. */
  constructor({ difference, bound }: { readonly difference: number; readonly bound: number }) {
    super({
      code: 'model/peft-export-differs',
      message: `The exported adapter differs from the original by ${difference} nats in a log-probability, and at most ${bound} is allowed; nothing was exported.`,
      hint: 'Run it again: a disk that returns other bytes than it was given can do this. If it stays, please report it.',
    })
  }
}

/** An adapter cannot be exported into this folder. */
export class UnwritablePeftFolderError extends InputError {
  /** @param cause what the file system says; absent: there is something of that name. */
  constructor(folder: string, cause?: unknown) {
    const why = cause === undefined ? 'there is something of that name' : (cause as Error).message
    super({
      code: 'model/unwritable-peft-folder',
      message: `The adapter cannot be written to ${folder}: ${why}.`,
      hint: 'Name a new folder, inside one that is there and may be written, with room.',
      ...(cause === undefined ? {} : { cause }),
    })
  }
}
