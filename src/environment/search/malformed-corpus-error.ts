import { InputError } from '../../errors/index.ts'

/** A corpus or its tasks cannot be used: unreadable, empty, duplicate or incomplete. Nothing of it was loaded. */
export class MalformedCorpusError extends InputError {
  /** The line of the file that is wrong, from 1; `null` when no single line is. */
  readonly line: number | null

  constructor(message: string, hint: string, at: { line?: number; cause?: unknown } = {}) {
    super({ code: 'environment/malformed-corpus', message, hint, cause: at.cause })
    this.line = at.line ?? null
  }
}
