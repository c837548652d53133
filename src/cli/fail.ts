import pc from 'picocolors'
import { InputError, RatchetError } from '../errors/index.ts'
import { visible } from '../core/index.ts'

/**
 * Tells a person, on standard error, what happened and what to do. Where in the code it happened is of use to those who
 * mend it, and shown with RATCHET_DEBUG alone.
 */
export function explainFailure(error: unknown, debug = (process.env['RATCHET_DEBUG'] ?? '') !== ''): string {
  const stack = debug && error instanceof Error ? `${pc.dim(visible(error.stack ?? ''))}\n` : ''
  if (RatchetError.is(error)) {
    const { code, message, hint } = error
    return `${pc.red('✗')} ${visible(message)}\n  ${visible(hint)} ${pc.dim(`[${code}]`)}\n${stack}`
  }
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  const hint = 'This is a defect: please report it, with what this prints when RATCHET_DEBUG=1 is set.'
  return `${pc.red('✗')} Something went wrong inside Ratchet. ${visible(what)}\n  ${hint}\n${stack}`
}

/** Standard output cannot be written: its disk is full, for example. */
export function unwritableOutput(cause: Error): InputError {
  return new InputError({
    code: 'input/unwritable-file',
    message: `The output cannot be written: ${cause.message}.`,
    hint: 'Free some space there, and run it again.',
    cause,
  })
}
