import { InputError } from '../../errors/index.ts'

/** Worlds that cannot be put together, or a task or a final state that is of none of them. */
export class MixedWorldError extends InputError {}
