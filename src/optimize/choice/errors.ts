import { RatchetError } from '../../errors/index.ts'

/** What a choice learns from, or reads, cannot be read. */
export class ChoiceError extends RatchetError {}
