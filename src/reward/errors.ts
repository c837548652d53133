import { RatchetError } from '../errors/index.ts'

/** A rubric was put together in a way that cannot work. */
export class RewardError extends RatchetError {}
