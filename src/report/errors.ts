import { InputError } from '../errors/index.ts'

/** A report was asked for a run that the store does not have. */
export class UnknownRunError extends InputError {
  /** @param run `null` when any run would have done. */
  constructor(run: string | null) {
    super({
      code: 'cli/unknown-run',
      message: run === null ? 'There is no run in this store.' : `There is no run "${run}" in this store.`,
      hint: run === null ? 'Start one with `ratchet learn`.' : 'List the runs with `ratchet runs`.',
    })
  }
}
