import pc from 'picocolors'
import { InputError, RatchetError } from '../errors/index.ts'
import { visible } from './visible.ts'

/** Tells a person, on standard error, what happened and what to do; a defect shows its stack. */
export function explainFailure(error: unknown): string {
  if (RatchetError.is(error)) {
    const { code, message, hint } = error
    return `${pc.red('✗')} ${visible(message)}\n  ${visible(hint)} ${pc.dim(`[${code}]`)}\n`
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `${pc.red('✗')} Something went wrong inside Ratchet.\n${pc.dim(visible(detail))}\n`
}

/** Standard output cannot be written: its disk is full, for example. */
export function unwritableOutput(cause: Error): InputError {
  return new InputError({
    code: 'input/unwritable-file',
    message: `The output cannot be written: ${cause.message}.`,
    hint: 'Make room where it goes, and run it again.',
    cause,
  })
}
