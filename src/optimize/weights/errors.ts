import { RatchetError } from '../../errors/index.ts'

/** Samples that this optimizer must not learn from, or a configuration that cannot work. */
export class OptimizeError extends RatchetError {}
