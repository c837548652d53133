import { RatchetError } from './ratchet-error.ts'

/** Input from outside (a file, a flag, a configuration, a request body) that does not have the shape it must have. */
export class InputError extends RatchetError {}
