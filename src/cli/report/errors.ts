import { InputError } from '../../errors/index.ts'

/** A report was asked for a run that the store does not have. */
export class UnknownRunError extends InputError {
  constructor(run: string) {
    super({
      code: 'cli/unknown-run',
      message: `There is no run "${run}" in this store.`,
      hint: 'List the runs with `ratchet runs`.',
    })
  }
}
