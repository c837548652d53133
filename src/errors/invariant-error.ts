import { RatchetError } from './ratchet-error.ts'

/** A rule that Ratchet's own code must hold was broken: a defect in Ratchet or in a plug-in, never the user's input. */
export class InvariantError extends RatchetError {
  constructor(message: string, cause?: unknown) {
    super({
      code: 'core/invariant',
      message,
      hint: 'This is a defect: please report it with the stack trace (RATCHET_DEBUG=1).',
      cause,
    })
  }
}

/**
 * Narrows `value` to non-nullish, where the surrounding code guarantees it and the type system cannot see it.
 * @throws InvariantError when the guarantee does not hold.
 */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new InvariantError(`${what} is missing`)
  return value
}
