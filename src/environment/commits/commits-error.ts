import { InputError } from '../../errors/index.ts'

/** A history that cannot be read, or a task that was not made from one. */
export class CommitsError extends InputError {}
