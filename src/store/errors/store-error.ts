import { RatchetError } from '../../errors/index.ts'

/** Anything that goes wrong between the store and its disk. Each kind that a caller can act on has its own class. */
export class StoreError extends RatchetError {}
