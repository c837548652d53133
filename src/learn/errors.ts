import { RatchetError } from '../errors/index.ts'

/** A learning run was configured, or resumed, in a way that cannot work. */
export class LearnError extends RatchetError {}
